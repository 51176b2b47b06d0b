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
  /** Timeout of the response. Seconds. */
  timeout: s.optional(s.number({ exclusiveMinimum: 0, maximum: 86_400 })),
});

/** Limits of one response (C24), which can only lower the limits of the server. */
export interface ChatBudget extends s.ValueOf<typeof chatBudget> {}

const answers = s.list<ClarificationAnswer>(clarificationAnswer, { maxItems: 100 });

/** A file, also the body of `POST /v1/attachments`; its bytes determine its type (N65, X46). */
export const chatAttachment = s.object(
  {
    name: s.string({ minLength: 1, maxLength: 1000 }),
    /** Base64 of the file; Sheaf accepts no address (S-102). */
    data: s.base64({ description: "Base64 of the file" }),
  },
  { title: "A file for the Chat API of Sheaf" },
);

/** A file of a message (X19). */
export interface ChatAttachment extends s.ValueOf<typeof chatAttachment> {}

const attachmentReference = s.object({
  id: s.string({ minLength: 1, maxLength: 200, description: "Id of a file that the client sent before (X47)" }),
});

/** A reference to a file that the client sent before the message (X47). */
export interface AttachmentReference extends s.ValueOf<typeof attachmentReference> {}

/** The fate of files that something else changed, when the branch changes (C252). */
const onConflict = s.optional(s.choice(["refuse", "leave", "overwrite", "keep"]));

/** Settings of a message's response; every route that takes messages takes these fields. */
export const chatSettings = s.object({
  /** Ext: name of a served workspace, for a new conversation. The server's first one is the default. */
  workspace: s.optional(id),
  mode: s.optional(mode),
  model: s.optional(id),
  /** Ext: thinking effort of the model. The server has a default (X18). */
  effort: s.optional(effort),
  /** Ext: the provider may search the web for the model; `true` only if the server allows it (N70). */
  webSearch: s.optional(s.boolean()),
  /** Ext: replaces Sheaf's own instructions to the model (C46). */
  systemPrompt: s.optional(s.string({ minLength: 1, maxLength: 100_000 })),
  /** Ext: the end of the system prompt (C46). */
  appendSystemPrompt: s.optional(s.string({ maxLength: 100_000 })),
  /** Approvals by a person. Default: `deny`, so that a client that can't ask one never hangs (X8). */
  approvals: s.optional(s.choice(["deny", "ask"])),
  accept: s.optional(
    s.object({
      /** Document types beyond the ten (N13). */
      documentTypes: s.optional(s.list(s.string({ maxLength: 200 }), { maxItems: 100 })),
      /** True to get `reasoning_delta` events (N14). */
      reasoning: s.optional(s.boolean()),
    }),
  ),
  /** Effect of a disconnection. By default the run continues (X7). */
  onDisconnect: s.optional(s.choice(["continue", "cancel"])),
  /** The fate of the message while another response of the conversation streams. Default: `reject`. */
  whenBusy: s.optional(s.choice(["reject", "queue", "steer", "cancel"])),
  /** Ext: for a message that starts another branch (C250). Default: `refuse`. */
  onConflict,
  budget: s.optional<ChatBudget>(chatBudget),
});

const chatRequestFields = s.extend(
  chatSettings,
  {
    /** The user's message. */
    message: s.string(),
    /** Id of the conversation to continue; absent: the message starts a new one. */
    conversationId: s.optional(id),
    /** The response that the message follows; null for the start. Default: the end of the shown branch (C250). */
    parentResponseId: s.optional(s.nullable(id)),
    /** True for Server-Sent Events instead of one JSON object. */
    stream: s.optional(s.boolean()),
    /** Answers to the clarification that ended the previous response (N42). */
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

/** Body of `POST /v1/chat`. The server ignores unknown fields (X14). */
export interface ChatRequest extends s.ValueOf<typeof chatRequestFields> {}

export const chatRequest = s.refine<ChatRequest>(
  chatRequestFields,
  "some text, answers, or attachments",
  ({ message, answers: given = [], attachments = [] }) =>
    message.trim() !== "" || given.length > 0 || attachments.length > 0,
  "message",
);

/** Body of `POST /v1/session`: a ticket of `serve --open`; without it, the request needs a token (S-51). */
export const sessionRequest = s.object(
  { ticket: s.optional(id) },
  { title: "A request of the page of Sheaf to be let in" },
);

export const approvalAnswer = s.object(
  {
    /** Id of an option in the request. */
    optionId: id,
    /** Message to the model, for instance a reason for the refusal. */
    message: s.optional(s.string({ maxLength: 100_000 })),
    /** Arguments that replace those in the call. */
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
  /** US dollars of the model requests with a price that the server knows; absent: the server knows no price. */
  costUsd: s.optional(s.number({ minimum: 0 })),
});

/** Ext: usage of a conversation's ended responses, including reverted ones (X35). */
export interface ConversationUsage extends s.ValueOf<typeof conversationUsage> {}

const openApproval = s.object({
  approvalId: s.string(),
  /** The response that waits, whose route takes the answer (X8). */
  responseId: s.string(),
  /** Type of the subject. */
  kind: approvalSubjectType,
  reason: s.optional<ApprovalReason>(approvalReason),
  /** End of the approval's time in RFC 3339 with `Z`. */
  expiresAt: instant,
  /** Ext: the place where a person answers (C231). */
  answeredIn: s.optional(approvalPlace),
});

/** Ext: an approval that a conversation waits for (X35). */
export interface OpenApproval extends s.ValueOf<typeof openApproval> {}

const searchMatch = s.object({
  where: s.growingChoice(["title", "message", "answer"]),
  /** The response that has the matching message or answer. */
  responseId: s.optional(s.string()),
  /** One line around the match. */
  text: s.string(),
  /** The matches in `text`: UTF-16 units, `end` exclusive. */
  ranges: s.list(s.object({ start: s.integer({ minimum: 0 }), end: s.integer({ minimum: 0 }) })),
});

/** Ext: the place of a match in a conversation (X36). */
export interface SearchMatch extends s.ValueOf<typeof searchMatch> {}

export const conversationSummary = s.object(
  {
    /** Id of the conversation: `conv_<id>`. */
    id: s.string({ pattern: "^conv_" }),
    /** First message, shortened. */
    title: s.string(),
    /** Start of the conversation in RFC 3339 with `Z`. */
    created: instant,
    /** Time of the last change in RFC 3339 with `Z`. */
    updated: instant,
    /** Ext: name of the workspace, if the server still serves it. */
    workspace: s.optional(s.string()),
    /** Ext: mode of the next message, unless that message sets another one (X25). */
    mode: s.optional(mode),
    /** Ext: model of the next message, an id of `GET /v1/models` (X25). */
    model: s.optional(s.string()),
    /** Ext: thinking effort of the next message (X25). */
    effort: s.optional(effort),
    /** Ext: the user pinned the conversation to the top (X35). */
    pinned: s.optional(s.boolean()),
    /** Ext: usage so far (X35). */
    usage: s.optional<ConversationUsage>(conversationUsage),
    /** Ext: the response that hasn't ended (X35). */
    runningResponseId: s.optional(s.string()),
    /** Ext: the last response in the shown branch (X35). */
    lastResponseId: s.optional(s.string()),
    /** Ext: approvals that wait for a person now; absent without any (X35). */
    approvals: s.optional(s.list<OpenApproval>(openApproval)),
    /** Ext: the match, only with `search` (X36). */
    match: s.optional<SearchMatch>(searchMatch),
  },
  { title: "A conversation of Sheaf, in short" },
);

/** One row of `GET /v1/conversations`. */
export interface ConversationSummary extends s.ValueOf<typeof conversationSummary> {}

export const conversationPage = s.object(
  {
    conversations: s.list<ConversationSummary>(conversationSummary),
    /** Value of `?before=` for the next page; absent on the last page. */
    next: s.optional(s.string()),
  },
  { title: "Some conversations of Sheaf, newest first" },
);

/** Answer of `GET /v1/conversations`: newest first. */
export interface ConversationPage extends s.ValueOf<typeof conversationPage> {}

/** Answer of `POST /v1/attachments` and `GET /v1/attachments/{id}` (X46). */
export const attachmentInfo = s.object(
  {
    /** Id of the file, `att_<id>`, for `attachments` of a message. */
    id: s.string(),
    name: s.string(),
    mediaType,
    /** Size of the file. Bytes. */
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
    /** The owner's files that messages can use now, oldest first. */
    attachments: s.list<AttachmentInfo>(attachmentInfo),
    limits: s.object({
      /** Largest file, and largest image. */
      fileBytes: bytes,
      imageBytes: bytes,
      /** Most bytes of all texts in a message. */
      textBytes: bytes,
      messageFiles: whole,
      messageBytes: bytes,
      /** Most files that the owner may have, and their bytes together. */
      files: whole,
      bytes,
      /** Time that messages can use a file. */
      keptSeconds: whole,
    }),
  },
  { title: "Files that messages to the Chat API of Sheaf may name, and their limits" },
);

export interface AttachmentList extends s.ValueOf<typeof attachmentList> {}

function conversationTurn(response: s.Schema<ChatResponse>) {
  return s.object({
    /** The user's message. */
    message: s.string(),
    /** Answers to the clarification before the message (N42). */
    answers: s.optional(s.list<ClarificationAnswer>(clarificationAnswer)),
    /** Ext: files of the message, without their bytes (X19). */
    attachments: s.optional(s.list<AttachmentSummary>(attachmentSummary)),
    response,
    /** Ext: all responses that follow the same response, oldest first, if there are several (C251). */
    versions: s.optional(s.list(s.string())),
  });
}

/** One message of a conversation and its response. */
export interface ConversationTurn extends s.ValueOf<ReturnType<typeof conversationTurn>> {}

const waits = s.choice(["queue", "steer"]);

const waitingMessage = s.object({
  /** Id of the response, `chat_<id>`, once the message starts one. */
  responseId: s.string(),
  /** The user's message. */
  message: s.string(),
  /** Files of the message, without their bytes. */
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
      /** Ext: hidden responses after the last turn, oldest first (C251). */
      nextVersions: s.optional(s.list(s.string())),
      /** Ext: waiting messages in the order of their start; absent without any (C241). */
      waiting: s.optional(s.list<WaitingMessage>(waitingMessage)),
    },
    { title: "A conversation of Sheaf" },
  );
}

/** Answer of `GET /v1/conversations/{id}`: everything in order. */
export interface Conversation extends s.ValueOf<ReturnType<typeof conversation>> {}

const conversationChangeFields = s.object(
  {
    title: s.optional(s.string({ minLength: 1, maxLength: 200 })),
    mode: s.optional(mode),
    model: s.optional(id),
    /** The new thinking effort; `null`: the server's default. */
    effort: s.optional(s.nullable(effort)),
    /** Ext: true to pin the conversation (X35). */
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
    /** Name of the branch. The server refuses a branch that has other commits. */
    branch: s.string({ minLength: 1, maxLength: 100 }),
    /** Message of the commit. */
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
    /** Ext: the fate of files that something else has changed since. Default: `refuse`. */
    onConflict,
    /** Ext: true to get the answer without a change (C252). False is the default. */
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
    /** Places that Sheaf doesn't record, and why, in one line each: they stay unchanged. */
    leftOut: s.optional(s.list(s.string())),
  },
  { title: "What another branch of a conversation of Sheaf changed" },
);

/** Answer to `POST /v1/conversations/{id}/revert` and `…/branches`. */
export interface RevertResult extends s.ValueOf<typeof revertResult> {}

const changedFileState = s.object({
  /** Path in the form of the documents. */
  filePath: s.string(),
  /** The change since the start of the conversation. */
  operation: s.optional(s.choice(["create", "edit", "delete", "rename"])),
  /** The present path of a renamed file. */
  newFilePath: s.optional(s.string()),
  linesAdded: s.optional(s.integer({ minimum: 0 })),
  linesRemoved: s.optional(s.integer({ minimum: 0 })),
  /** SHA-256 of the present content, hex; absent if the file doesn't exist now. */
  hash: s.optional(s.string()),
  /** Unified diff from the start of the conversation to now. */
  patch: s.optional(s.string()),
  /** True if something else changed the file after the conversation's last change. */
  changedSince: s.optional(s.literal(true)),
  /** The reason why there's no patch. */
  problem: s.optional(s.string()),
});

/** A file that a conversation changed. */
export interface ChangedFileState extends s.ValueOf<typeof changedFileState> {}

export const conversationChanges = s.object(
  { files: s.list<ChangedFileState>(changedFileState) },
  { title: "The changes of a conversation of Sheaf in its files" },
);

/** Answer of `GET /v1/conversations/{id}/changes` (X28). */
export interface ConversationChanges extends s.ValueOf<typeof conversationChanges> {}

const blamedRange = s.object({
  startLine: s.integer({ minimum: 1 }),
  endLine: s.integer({ minimum: 1 }),
  /** The call that wrote these lines; absent: no call in the owner's conversations wrote them. */
  call: s.optional(
    s.object({
      conversationId: s.string(),
      responseId: s.string(),
      callId: s.string(),
      tool: s.string(),
      model: s.string(),
      prompt: s.string(),
      /** Cost of the whole response. US dollars. */
      costUsd: s.optional(s.number({ minimum: 0 })),
      time: s.string(),
      /** True if this call wrote the lines; false if another call of the response may have. */
      certain: s.boolean(),
      /** True if a subagent made the call. */
      subagent: s.optional(s.literal(true)),
    }),
  ),
  /** The commit of the user's repository with these lines; absent: they aren't committed. */
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

/** Answer of `GET /v1/conversations/{id}/blame` (C270). */
export interface FileBlame extends s.ValueOf<typeof fileBlame> {}

export const changeRevert = s.object(
  {
    /** Path in the list of changes. */
    filePath: s.string({ minLength: 1, maxLength: 4096 }),
    /** SHA-256 of the content that the user has seen; absent if the file didn't exist. */
    hash: s.optional(s.string({ maxLength: 64 })),
    /** One hunk of the patch, from 0; absent: the whole file. */
    hunk: s.optional(s.integer({ minimum: 0 })),
  },
  { title: "A request to revert one change of a conversation of Sheaf" },
);

/** Body of `POST /v1/conversations/{id}/changes/revert` (X29). */
export interface ChangeRevert extends s.ValueOf<typeof changeRevert> {}

const workspaceInfo = s.object({
  /** Value for `workspace` in a request. */
  name: s.string(),
  /** True for the workspace of requests without `workspace`. */
  default: s.optional(s.literal(true)),
  /** Branch of git, if the workspace is on one. */
  branch: s.optional(s.string()),
});

export const workspaceList = s.object(
  { workspaces: s.list(workspaceInfo) },
  { title: "Workspaces that a request to Sheaf may name" },
);

/** Answer of `GET /v1/workspaces` (X30). */
export interface WorkspaceList extends s.ValueOf<typeof workspaceList> {}

export const workspaceFiles = s.object(
  {
    /** Files for the query, best matches first. */
    files: s.list(s.object({ path: s.string() })),
    /** True if there are more files. */
    truncated: s.boolean(),
  },
  { title: "Files of a workspace of Sheaf" },
);

/** Answer of `GET /v1/workspaces/{name}/files` (X31). */
export interface WorkspaceFileList extends s.ValueOf<typeof workspaceFiles> {}

export const workspaceCommands = s.object(
  {
    /** Commands for the query, best matches first. */
    commands: s.list(
      s.object({
        /** The name that a message has after its slash. */
        name: s.string(),
        kind: s.growingChoice(["command", "skill"]),
        /** One line; "" if the file has no description. */
        description: s.string(),
        /** Hint at arguments after the name; "" if the file has no hint. */
        argumentHint: s.string(),
      }),
    ),
    /** True if there are more commands. */
    truncated: s.boolean(),
  },
  { title: "The commands that a message to Sheaf can start with a slash" },
);

/** Answer of `GET /v1/workspaces/{name}/commands` (X88). */
export interface WorkspaceCommandList extends s.ValueOf<typeof workspaceCommands> {}

export const workspaceFile = s.object(
  {
    path: s.string(),
    content: s.string(),
    /** First line in `content`, from 1. */
    startLine: s.integer({ minimum: 0 }),
    endLine: s.integer({ minimum: 0 }),
    totalLines: s.integer({ minimum: 0 }),
    /** SHA-256 of the whole file, hex. */
    hash: s.string(),
  },
  { title: "Lines of a file in a workspace of Sheaf" },
);

/** Answer of `GET /v1/workspaces/{name}/files/{path}` (X32). */
export interface WorkspaceFile extends s.ValueOf<typeof workspaceFile> {}

const modelInfo = s.object({
  /** Value for `model` in a request. */
  id: s.string(),
  name: s.optional(s.string()),
  /** Ext: context window of the model, if the server knows it. */
  contextTokens: s.optional(whole),
});

/** One row of `GET /v1/models`. */
export interface ModelInfo extends s.ValueOf<typeof modelInfo> {}

export const modelList = s.object(
  {
    models: s.list<ModelInfo>(modelInfo),
    /** Ext: the same list for clients of OpenAI (N71). */
    object: s.optional(s.literal("list")),
    data: s.optional(s.list(s.anything())),
  },
  { title: "Models that a request to Sheaf may name" },
);

/** Answer of `GET /v1/models`. */
export interface ModelList extends s.ValueOf<typeof modelList> {}
