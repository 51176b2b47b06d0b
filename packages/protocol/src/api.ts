/** Requests of the Chat API, and the answers other than responses. Clauses: section 7 of docs/formats/documents.md. */
import { type ChatResponse, type ClarificationAnswer, clarificationAnswer } from "./chat.ts";
import {
  approvalPlace,
  type ApprovalReason,
  approvalReason,
  approvalSubjectType,
  attachmentSummary,
  effort,
  instant,
  mediaType,
  mode,
} from "./response-parts.ts";
import type { AttachmentSummary } from "./attachments.ts";
import * as s from "./schema.ts";

const id = s.string({ minLength: 1, maxLength: 200 });
const whole = s.integer({ minimum: 1 });
const dollars = s.number({ exclusiveMinimum: 0 });

const chatBudget = s.object({
  maxTurns: s.optional(whole),
  maxToolCalls: s.optional(whole),
  maxTokens: s.optional(whole),
  maxCostUsd: s.optional(dollars),
  /** Seconds. */
  timeout: s.optional(s.number({ exclusiveMinimum: 0, maximum: 86_400 })),
});

/** Limits of one response (C24); they can only lower those of the server. */
export interface ChatBudget extends s.ValueOf<typeof chatBudget> {}

const answers = s.list<ClarificationAnswer>(clarificationAnswer, { maxItems: 100 });

/** A file, also the body of `POST /v1/attachments`; its bytes say what it is (N65, X46). */
export const chatAttachment = s.object(
  {
    name: s.string({ minLength: 1, maxLength: 1000 }),
    /** Base64 of the file; an address is not accepted (S-102). */
    data: s.base64({ description: "Base64 of the file" }),
  },
  { title: "A file for the Chat API of Sheaf" },
);

/** A file that goes with a message (X19). */
export interface ChatAttachment extends s.ValueOf<typeof chatAttachment> {}

const attachmentReference = s.object({
  id: s.string({ minLength: 1, maxLength: 200, description: "Of a file sent before (X47)" }),
});

/** A file that was sent before the message (X47). */
export interface AttachmentReference extends s.ValueOf<typeof attachmentReference> {}

/** What to do with files that something else changed, when the branch changes (C252). */
const onConflict = s.optional(s.choice(["refuse", "leave", "overwrite", "keep"]));

/** The way a message is answered; every route that takes messages takes these fields. */
export const chatSettings = s.object({
  /** Ext: name of a workspace that the server serves, for a new conversation; default: its first one. */
  workspace: s.optional(id),
  mode: s.optional(mode),
  model: s.optional(id),
  /** Ext: how much the model thinks; default: that of the server (X18). */
  effort: s.optional(effort),
  /** Ext: the provider may search the web for the model; `true` only where the server allows it (N70). */
  webSearch: s.optional(s.boolean()),
  /** Ext: in place of Sheaf's own instructions to the model (C46). */
  systemPrompt: s.optional(s.string({ minLength: 1, maxLength: 100_000 })),
  /** Ext: the end of the system prompt (C46). */
  appendSystemPrompt: s.optional(s.string({ maxLength: 100_000 })),
  /** Default: `deny`, so that a client that cannot ask a person never hangs (X8). */
  approvals: s.optional(s.choice(["deny", "ask"])),
  accept: s.optional(
    s.object({
      /** Document types beyond the ten (N13). */
      documentTypes: s.optional(s.list(s.string({ maxLength: 200 }), { maxItems: 100 })),
      /** Send `reasoning_delta` events (N14). */
      reasoning: s.optional(s.boolean()),
    }),
  ),
  /** Default: `continue`, the run goes on when its reader disconnects (X7). */
  onDisconnect: s.optional(s.choice(["continue", "cancel"])),
  /** What to do while another response of the conversation streams. Default: `reject`. */
  whenBusy: s.optional(s.choice(["reject", "queue", "steer", "cancel"])),
  /** Ext: for a message that begins another branch (C250). Default: `refuse`. */
  onConflict,
  budget: s.optional<ChatBudget>(chatBudget),
});

const chatRequestFields = s.extend(
  chatSettings,
  {
    /** What the user says. */
    message: s.string(),
    /** Continues a conversation; without it a new one begins. */
    conversationId: s.optional(id),
    /** The response after which the message comes; `null`: the start. Default: the end of the shown branch (C250). */
    parentResponseId: s.optional(s.nullable(id)),
    /** Server-Sent Events instead of one JSON object. */
    stream: s.optional(s.boolean()),
    /** Answers to the clarification that ended the response before (N42). */
    answers: s.optional(answers),
    /** Ext: files that the model sees with the message (X19). */
    attachments: s.optional(
      s.list(s.either([s.named<ChatAttachment>(chatAttachment), s.named<AttachmentReference>(attachmentReference)]), {
        maxItems: 20,
      }),
    ),
  },
  { title: "A request to the Chat API of Sheaf" },
);

/** Body of `POST /v1/chat`. Unknown fields are ignored (X14). */
export interface ChatRequest extends s.ValueOf<typeof chatRequestFields> {}

export const chatRequest = s.refine<ChatRequest>(
  chatRequestFields,
  "some text, answers, or attachments",
  ({ message, answers: given = [], attachments = [] }) =>
    message.trim() !== "" || given.length > 0 || attachments.length > 0,
  "message",
);

/** Body of `POST /v1/session`: a ticket of `serve --open`; without it the header Authorization counts (S-51). */
export const sessionRequest = s.object(
  { ticket: s.optional(id) },
  { title: "A request of the page of Sheaf to be let in" },
);

export const approvalAnswer = s.object(
  {
    /** One of the options of the request. */
    optionId: id,
    /** Message for the model, for instance why not. */
    message: s.optional(s.string({ maxLength: 100_000 })),
    /** Replaces the arguments of the call. */
    editedArguments: s.optional(s.record(s.anything())),
  },
  { title: "An answer to an approval request of Sheaf" },
);

/** Body of `POST /v1/responses/{id}/approvals/{approvalId}` (X8). */
export interface ApprovalAnswer extends s.ValueOf<typeof approvalAnswer> {}

/** Answer to `POST /v1/responses/{id}/approvals/{approvalId}`. */
export const approvalResult = s.object(
  { approvalId: s.string(), optionId: s.string() },
  { title: "An answer to an approval request of Sheaf that was accepted" },
);

/** Answer to `POST /v1/responses/{id}/cancel`. */
export const cancelResult = s.object(
  { id: s.string(), status: s.choice(["cancelling", "ended"]) },
  { title: "The state of a response of Sheaf that was cancelled" },
);

const tokens = s.integer({ minimum: 0 });

const conversationUsage = s.object({
  promptTokens: tokens,
  completionTokens: tokens,
  totalTokens: tokens,
  /** US dollars, of the model requests whose price the server knows; missing: of none. */
  costUsd: s.optional(s.number({ minimum: 0 })),
});

/** Ext: what the responses of a conversation used that have ended, reverted ones too (X35). */
export interface ConversationUsage extends s.ValueOf<typeof conversationUsage> {}

const openApproval = s.object({
  approvalId: s.string(),
  /** The place where it is answered (X8). */
  responseId: s.string(),
  /** `type` of its subject. */
  kind: approvalSubjectType,
  reason: s.optional<ApprovalReason>(approvalReason),
  /** RFC 3339 with `Z`. */
  expiresAt: instant,
  /** Ext (C231). */
  answeredIn: s.optional(approvalPlace),
});

/** Ext: an approval that a conversation waits for (X35). */
export interface OpenApproval extends s.ValueOf<typeof openApproval> {}

const searchMatch = s.object({
  where: s.growingChoice(["title", "message", "answer"]),
  /** Of the message or answer. */
  responseId: s.optional(s.string()),
  /** One line around the match. */
  text: s.string(),
  /** The matches in `text`: UTF-16 units, `end` exclusive. */
  ranges: s.list(s.object({ start: s.integer({ minimum: 0 }), end: s.integer({ minimum: 0 }) })),
});

/** Ext: where a search found a conversation (X36). */
export interface SearchMatch extends s.ValueOf<typeof searchMatch> {}

export const conversationSummary = s.object(
  {
    /** `conv_<id>`. */
    id: s.string({ pattern: "^conv_" }),
    /** First message, shortened. */
    title: s.string(),
    /** RFC 3339 with `Z`. */
    created: instant,
    /** Of the last change; RFC 3339 with `Z`. */
    updated: instant,
    /** Ext: name of its workspace, if it is still served. */
    workspace: s.optional(s.string()),
    /** Ext: what the next message goes on with, unless it says otherwise (X25). */
    mode: s.optional(mode),
    /** Ext: as `GET /v1/models` names it (X25). */
    model: s.optional(s.string()),
    /** Ext (X25). */
    effort: s.optional(effort),
    /** Ext: the user keeps it at the top (X35). */
    pinned: s.optional(s.boolean()),
    /** Ext (X35). */
    usage: s.optional<ConversationUsage>(conversationUsage),
    /** Ext: its response that has not ended (X35). */
    runningResponseId: s.optional(s.string()),
    /** Ext: its last response in the shown branch (X35). */
    lastResponseId: s.optional(s.string()),
    /** Ext: what waits for a person now; missing: nothing does (X35). */
    approvals: s.optional(s.list<OpenApproval>(openApproval)),
    /** Ext: only with `search` (X36). */
    match: s.optional<SearchMatch>(searchMatch),
  },
  { title: "A conversation of Sheaf, in short" },
);

/** One row of `GET /v1/conversations`. */
export interface ConversationSummary extends s.ValueOf<typeof conversationSummary> {}

export const conversationPage = s.object(
  {
    conversations: s.list<ConversationSummary>(conversationSummary),
    /** Value of `?before=` for the next page; left out on the last one. */
    next: s.optional(s.string()),
  },
  { title: "Some conversations of Sheaf, newest first" },
);

/** `GET /v1/conversations`: newest first. */
export interface ConversationPage extends s.ValueOf<typeof conversationPage> {}

/** Answer of `POST /v1/attachments` and `GET /v1/attachments/{id}` (X46). */
export const attachmentInfo = s.object(
  {
    /** `att_<id>`, for `attachments` of a message. */
    id: s.string(),
    name: s.string(),
    mediaType,
    /** Bytes. */
    size: s.integer({ minimum: 0 }),
    created: instant,
  },
  { title: "A file that messages to the Chat API of Sheaf may name" },
);

export interface AttachmentInfo extends s.ValueOf<typeof attachmentInfo> {}

const bytes = s.integer({ minimum: 1, description: "Bytes" });

/** Answer of `GET /v1/attachments` (X108). */
export const attachmentList = s.object(
  {
    /** Those of the owner that messages may name now, oldest first. */
    attachments: s.list<AttachmentInfo>(attachmentInfo),
    limits: s.object({
      /** Of one file, and of one image. */
      fileBytes: bytes,
      imageBytes: bytes,
      /** Of all texts of a message. */
      textBytes: bytes,
      messageFiles: whole,
      messageBytes: bytes,
      /** What the owner may have of these files, and how many bytes together. */
      files: whole,
      bytes,
      /** Time that messages may name a file. */
      keptSeconds: whole,
    }),
  },
  { title: "Files that messages to the Chat API of Sheaf may name, and their limits" },
);

export interface AttachmentList extends s.ValueOf<typeof attachmentList> {}

function conversationTurn(response: s.Schema<ChatResponse>) {
  return s.object({
    /** What the user said. */
    message: s.string(),
    /** Answers to the clarification before (N42). */
    answers: s.optional(s.list<ClarificationAnswer>(clarificationAnswer)),
    /** Ext: files that went with the message, without their bytes (X19). */
    attachments: s.optional(s.list<AttachmentSummary>(attachmentSummary)),
    response,
    /** Ext: all responses that follow the same one, oldest first, if there are several (C251). */
    versions: s.optional(s.list(s.string())),
  });
}

/** One message of a conversation and the response to it. */
export interface ConversationTurn extends s.ValueOf<ReturnType<typeof conversationTurn>> {}

const waits = s.choice(["queue", "steer"]);

const waitingMessage = s.object({
  /** `chat_<id>`: its response, once it starts one. */
  responseId: s.string(),
  /** What the user said. */
  message: s.string(),
  /** Files that go with it, without their bytes. */
  attachments: s.optional(s.list<AttachmentSummary>(attachmentSummary)),
  whenBusy: waits,
});

/** A message that waits for its conversation (C241). */
export interface WaitingMessage extends s.ValueOf<typeof waitingMessage> {}

export const waitingList = s.object(
  { waiting: s.list<WaitingMessage>(waitingMessage) },
  { title: "The messages that wait for a conversation of Sheaf" },
);

/** Answer to `PUT /v1/conversations/{id}/waiting`. */
export interface WaitingList extends s.ValueOf<typeof waitingList> {}

export const waitingOrder = s.object(
  { waiting: s.list(s.object({ responseId: id, whenBusy: s.optional(waits) }), { maxItems: 100 }) },
  { title: "The order of the messages that wait for a conversation of Sheaf" },
);

/** Body of `PUT /v1/conversations/{id}/waiting` (C241). */
export interface WaitingOrder extends s.ValueOf<typeof waitingOrder> {}

export function conversation(response: s.Schema<ChatResponse>) {
  return s.extend(
    conversationSummary,
    {
      turns: s.list<ConversationTurn>(conversationTurn(response)),
      /** Ext: responses after the last turn that are not shown, oldest first (C251). */
      nextVersions: s.optional(s.list(s.string())),
      /** Ext: in the order in which they start; absent if none waits (C241). */
      waiting: s.optional(s.list<WaitingMessage>(waitingMessage)),
    },
    { title: "A conversation of Sheaf" },
  );
}

/** `GET /v1/conversations/{id}`: everything in order. */
export interface Conversation extends s.ValueOf<ReturnType<typeof conversation>> {}

const conversationChangeFields = s.object(
  {
    title: s.optional(s.string({ minLength: 1, maxLength: 200 })),
    mode: s.optional(mode),
    model: s.optional(id),
    /** `null`: as the server does by default. */
    effort: s.optional(s.nullable(effort)),
    /** Ext (X35). */
    pinned: s.optional(s.boolean()),
  },
  { title: "A change of a conversation of Sheaf" },
);

/** Body of `PATCH /v1/conversations/{id}` (X26). */
export interface ConversationChange extends s.ValueOf<typeof conversationChangeFields> {}

export const conversationChange = s.refine<ConversationChange>(
  conversationChangeFields,
  "a title, mode, model, effort or pinned",
  ({ title, mode: newMode, model, effort: newEffort, pinned }) =>
    title !== undefined ? title.trim() !== "" : (newMode ?? model ?? pinned ?? newEffort) !== undefined,
);

/** Body of `POST /v1/conversations/{id}/fork`. */
export const forkRequest = s.object({ responseId: id }, { title: "A request to fork a conversation of Sheaf" });

export const publishRequest = s.object(
  {
    /** The server refuses a branch that has other commits. */
    branch: s.string({ minLength: 1, maxLength: 100 }),
    /** Of the commit. */
    message: s.string({ minLength: 1, maxLength: 10_000 }),
  },
  { title: "A request to publish the files of a conversation of Sheaf as a branch" },
);

/** Body of `POST /v1/conversations/{id}/publish` (X55). */
export interface PublishRequest extends s.ValueOf<typeof publishRequest> {}

export const publishResult = s.object(
  { branch: s.string(), commit: s.string() },
  { title: "The branch that Sheaf published" },
);

/** Answer to `POST /v1/conversations/{id}/publish`. */
export interface PublishResult extends s.ValueOf<typeof publishResult> {}

export const revertRequest = s.object(
  {
    /** The first response to revert, or any response of the branch to show. */
    responseId: id,
    /** Ext: what to do with files changed by something else since. Default: `refuse`. */
    onConflict,
    /** Ext: only answers, and changes nothing (C252). Default: false. */
    dryRun: s.optional(s.boolean()),
  },
  { title: "A request to show another branch of a conversation of Sheaf" },
);

/** Body of `POST /v1/conversations/{id}/revert` and of `…/branches` (C252). */
export interface RevertRequest extends s.ValueOf<typeof revertRequest> {}

export const revertResult = s.object(
  {
    /** Responses that the shown branch lost, in order. */
    responseIds: s.list(s.string()),
    /** The outcome for each file. */
    files: s.list(s.object({ filePath: s.string(), action: s.choice(["restored", "removed", "unchanged"]) })),
    /** Files left unchanged. */
    conflicts: s.list(s.object({ filePath: s.string(), reason: s.string() })),
    /** Places that Sheaf doesn't record, and why, in one line each: they stay as they are. */
    leftOut: s.optional(s.list(s.string())),
  },
  { title: "What another branch of a conversation of Sheaf changed" },
);

/** Answer to `POST /v1/conversations/{id}/revert` and `…/branches`. */
export interface RevertResult extends s.ValueOf<typeof revertResult> {}

const changedFileState = s.object({
  /** As the documents show it. */
  filePath: s.string(),
  /** Against the start of the conversation. */
  operation: s.optional(s.choice(["create", "edit", "delete", "rename"])),
  /** The place where a renamed file is now. */
  newFilePath: s.optional(s.string()),
  linesAdded: s.optional(s.integer({ minimum: 0 })),
  linesRemoved: s.optional(s.integer({ minimum: 0 })),
  /** SHA-256 of the present content, hex; missing if the file does not exist now. */
  hash: s.optional(s.string()),
  /** From the start of the conversation to now. */
  patch: s.optional(s.string()),
  /** Something else has changed the file after the conversation's last change. */
  changedSince: s.optional(s.literal(true)),
  /** Why there is no patch. */
  problem: s.optional(s.string()),
});

/** A file that a conversation changed. */
export interface ChangedFileState extends s.ValueOf<typeof changedFileState> {}

export const conversationChanges = s.object(
  { files: s.list<ChangedFileState>(changedFileState) },
  { title: "What a conversation of Sheaf changed in its files" },
);

/** `GET /v1/conversations/{id}/changes` (X28). */
export interface ConversationChanges extends s.ValueOf<typeof conversationChanges> {}

const blamedRange = s.object({
  startLine: s.integer({ minimum: 1 }),
  endLine: s.integer({ minimum: 1 }),
  /** The call that wrote these lines; missing: no call in a conversation of the owner did. */
  call: s.optional(
    s.object({
      conversationId: s.string(),
      responseId: s.string(),
      callId: s.string(),
      tool: s.string(),
      model: s.string(),
      prompt: s.string(),
      /** Of the whole response. */
      costUsd: s.optional(s.number({ minimum: 0 })),
      time: s.string(),
      /** False: another call of the response may have written them. */
      certain: s.boolean(),
      /** A call of a subagent. */
      subagent: s.optional(s.literal(true)),
    }),
  ),
  /** The commit of the user's repository that has these lines; missing: they are not committed. */
  commit: s.optional(s.object({ id: s.string(), author: s.string(), time: s.string() })),
});

/** Lines of a file that have one origin. */
export interface BlamedRange extends s.ValueOf<typeof blamedRange> {}

export const fileBlame = s.object(
  {
    path: s.string(),
    /** SHA-256 of the present content, hex. */
    hash: s.string(),
    totalLines: s.integer({ minimum: 0 }),
    ranges: s.list<BlamedRange>(blamedRange),
  },
  { title: "What made the lines of a file" },
);

/** `GET /v1/conversations/{id}/blame` (C270). */
export interface FileBlame extends s.ValueOf<typeof fileBlame> {}

export const changeRevert = s.object(
  {
    /** As in the list of changes. */
    filePath: s.string({ minLength: 1, maxLength: 4096 }),
    /** Of the state that the user has seen; left out if the file did not exist. */
    hash: s.optional(s.string({ maxLength: 64 })),
    /** One hunk of the patch, from 0; left out: the whole file. */
    hunk: s.optional(s.integer({ minimum: 0 })),
  },
  { title: "A request to revert one change of a conversation of Sheaf" },
);

/** Body of `POST /v1/conversations/{id}/changes/revert` (X29). */
export interface ChangeRevert extends s.ValueOf<typeof changeRevert> {}

const workspaceInfo = s.object({
  /** Value for `workspace` in a request. */
  name: s.string(),
  /** Requests that name none use it. */
  default: s.optional(s.literal(true)),
  /** Of git, if one is checked out. */
  branch: s.optional(s.string()),
});

export const workspaceList = s.object(
  { workspaces: s.list(workspaceInfo) },
  { title: "Workspaces that a request to Sheaf may name" },
);

/** `GET /v1/workspaces` (X30). */
export interface WorkspaceList extends s.ValueOf<typeof workspaceList> {}

export const workspaceFiles = s.object(
  {
    /** The best ones first. */
    files: s.list(s.object({ path: s.string() })),
    /** There are more. */
    truncated: s.boolean(),
  },
  { title: "Files of a workspace of Sheaf" },
);

/** `GET /v1/workspaces/{name}/files` (X31). */
export interface WorkspaceFileList extends s.ValueOf<typeof workspaceFiles> {}

export const workspaceCommands = s.object(
  {
    /** The best ones first. */
    commands: s.list(
      s.object({
        /** What a message says after its slash. */
        name: s.string(),
        kind: s.growingChoice(["command", "skill"]),
        /** One line; "" if its file has none. */
        description: s.string(),
        /** What may follow the name; "" if its file does not say. */
        argumentHint: s.string(),
      }),
    ),
    /** There are more. */
    truncated: s.boolean(),
  },
  { title: "What a message to Sheaf may name after a slash" },
);

/** `GET /v1/workspaces/{name}/commands` (X88). */
export interface WorkspaceCommandList extends s.ValueOf<typeof workspaceCommands> {}

export const workspaceFile = s.object(
  {
    path: s.string(),
    content: s.string(),
    /** From 1. */
    startLine: s.integer({ minimum: 0 }),
    endLine: s.integer({ minimum: 0 }),
    totalLines: s.integer({ minimum: 0 }),
    /** SHA-256 of the whole file, hex. */
    hash: s.string(),
  },
  { title: "Lines of a file of a workspace of Sheaf" },
);

/** `GET /v1/workspaces/{name}/files/{path}` (X32). */
export interface WorkspaceFile extends s.ValueOf<typeof workspaceFile> {}

const modelInfo = s.object({
  /** Value for `model` in a request. */
  id: s.string(),
  name: s.optional(s.string()),
  /** Ext: what fits into one request, if it is known. */
  contextTokens: s.optional(whole),
});

/** One row of `GET /v1/models`. */
export interface ModelInfo extends s.ValueOf<typeof modelInfo> {}

export const modelList = s.object(
  {
    models: s.list<ModelInfo>(modelInfo),
    /** Ext: the same for clients of OpenAI (N71). */
    object: s.optional(s.literal("list")),
    data: s.optional(s.list(s.anything())),
  },
  { title: "Models that a request to Sheaf may name" },
);

/** `GET /v1/models`. */
export interface ModelList extends s.ValueOf<typeof modelList> {}
