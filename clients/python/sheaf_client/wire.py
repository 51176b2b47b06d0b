"""Types of the Chat API. `npm run python-types` writes this file."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union


class _Documents(TypedDict):
    id: str
    conversationId: str
    model: str
    mode: Literal["agent", "plan", "ask", "debug"]
    created: str
    status: Literal["completed", "streaming", "error"]
    documents: list[TextDocument | CodeReferenceDocument | CodeBlockDocument | FileEditDocument | ToolCallDocument | TerminalCommandDocument | PlanDocument | ClarificationDocument | ErrorDocument | TodoUpdateDocument]
    usage: DocumentsUsage
    metadata: DocumentsMetadata


class Documents(_Documents, total=False):
    """A response of Sheaf."""

    hooks: list[Hook]
    messages: list[Message]


class _DocumentsUsage(TypedDict):
    promptTokens: int
    completionTokens: int
    totalTokens: int


class DocumentsUsage(_DocumentsUsage, total=False):
    reasoningTokens: int
    cachedPromptTokens: int
    cacheWriteTokens: int
    estimated: Literal[True]


class _DocumentsMetadata(TypedDict):
    duration_ms: float
    toolCallCount: int
    turnCount: int


class DocumentsMetadata(_DocumentsMetadata, total=False):
    actionCount: int
    contextTokensUsed: int
    waiting_ms: float
    finishReason: Literal["end_turn", "clarification", "refusal", "cancelled", "max_tokens", "budget", "error"]
    notices: list[Notice]
    verify: list[Verify]
    refusals: list[Refusal]
    sandbox: str
    costUsd: float
    lastEventId: int


class Notice(TypedDict):
    code: Literal["SANDBOX_UNAVAILABLE", "NOT_CONTAINED", "REVERT_UNAVAILABLE", "HOOK_NOT_RUN", "HOOK_FAILED", "HOOK_MESSAGE", "AGENT_CHANGED", "SETUP_FAILED", "COMMAND_UNKNOWN", "EFFORT_CHANGED", "MODEL_CHANGED", "STDIN_SKIPPED", "RESTRICTIONS_KEPT", "FLAG_IGNORED", "COMMAND_ENDED", "COMMITS_KEPT", "INSTRUCTIONS_UNTRUSTED", "GIT_HOOKS_OFF", "SERVER_NOT_STARTED", "USAGE_UNKNOWN", "TELEMETRY_LOST", "ANSWER_CUT", "CONTEXT_CUT", "TREE_BRANCH", "TREE_KEPT"]
    message: str


class Verify(TypedDict):
    command: str
    passed: bool
    exitCode: int
    rounds: int


class _Refusal(TypedDict):
    tool: str
    reason: str


class Refusal(_Refusal, total=False):
    rule: str


class _Hook(TypedDict):
    event: str
    origin: Literal["user", "workspace"]
    status: Literal["success", "failed"]
    exitCode: int
    after: int


class Hook(_Hook, total=False):
    decision: Literal["block", "ask", "end"]
    reason: str
    arguments: dict[str, Any]
    informed: Literal[True]
    documentId: str


class _Message(TypedDict):
    message: str
    after: int


class Message(_Message, total=False):
    messageId: str
    attachments: list[MessageAttachment]


class MessageAttachment(TypedDict):
    name: str
    mediaType: Literal["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"]
    bytes: int
    sha256: str


class _TextDocument(TypedDict):
    id: str
    type: Literal["text"]
    sequence: int
    content: str
    metadata: TextDocumentMetadata


class TextDocument(_TextDocument, total=False):
    status: Literal["in_progress"]


class _TextDocumentMetadata(TypedDict):
    format: Literal["markdown", "plain"]


class TextDocumentMetadata(_TextDocumentMetadata, total=False):
    codeBlocks: list[CodeBlock]


class CodeBlock(TypedDict):
    offset: int
    length: int
    language: str


class _CodeReferenceDocument(TypedDict):
    id: str
    type: Literal["code_reference"]
    sequence: int
    content: str
    metadata: CodeReferenceDocumentMetadata


class CodeReferenceDocument(_CodeReferenceDocument, total=False):
    status: Literal["in_progress"]


class _CodeReferenceDocumentMetadata(TypedDict):
    filePath: str
    startLine: int
    endLine: int
    language: str


class CodeReferenceDocumentMetadata(_CodeReferenceDocumentMetadata, total=False):
    rawPath: str
    verified: bool
    writtenLines: WrittenLines
    closed: Literal[False]


class WrittenLines(TypedDict):
    startLine: int
    endLine: int


class _CodeBlockDocument(TypedDict):
    id: str
    type: Literal["code_block"]
    sequence: int
    content: str
    metadata: CodeBlockDocumentMetadata


class CodeBlockDocument(_CodeBlockDocument, total=False):
    status: Literal["in_progress"]


class _CodeBlockDocumentMetadata(TypedDict):
    language: str
    purpose: Literal["new_code", "example", "suggestion"]


class CodeBlockDocumentMetadata(_CodeBlockDocumentMetadata, total=False):
    info: str
    closed: Literal[False]


class _FileEditDocument(TypedDict):
    id: str
    type: Literal["file_edit"]
    sequence: int
    content: str | None
    metadata: FileEditDocumentMetadata


class FileEditDocument(_FileEditDocument, total=False):
    status: Literal["in_progress"]


class _FileEditDocumentMetadata(TypedDict):
    filePath: str
    operation: Literal["create", "edit", "delete", "rename"]
    language: str


class FileEditDocumentMetadata(_FileEditDocumentMetadata, total=False):
    agent: Agent
    toolName: str
    toolCallId: str
    providerToolCallId: str
    diff: Diff | None
    newFilePath: str
    patch: str
    linesAdded: int
    linesRemoved: int
    state: Literal["proposed", "applied", "rejected", "failed"]
    binary: Literal[True]
    bytes: int
    truncated: Literal[True]


class Agent(TypedDict):
    id: str
    name: str


class Diff(TypedDict):
    oldString: str
    newString: str
    startLine: int
    endLine: int


class _ToolCallDocument(TypedDict):
    id: str
    type: Literal["tool_call"]
    sequence: int
    content: None
    metadata: ToolCallDocumentMetadata


class ToolCallDocument(_ToolCallDocument, total=False):
    status: Literal["in_progress"]


class _ToolCallDocumentMetadata(TypedDict):
    toolName: str
    toolCallId: str
    arguments: dict[str, Any]
    result: Result
    duration_ms: float


class ToolCallDocumentMetadata(_ToolCallDocumentMetadata, total=False):
    rawArguments: str
    providerToolCallId: str
    agent: Agent
    subagent: Subagent
    draftOutput: str


class _Result(TypedDict):
    status: Literal["success", "error"]
    data: Any


class Result(_Result, total=False):
    truncated: Literal[True]
    bytes: int
    denied: int


class _Subagent(TypedDict):
    turnCount: int
    actionCount: int
    usage: DocumentsUsage


class Subagent(_Subagent, total=False):
    model: str


class _TerminalCommandDocument(TypedDict):
    id: str
    type: Literal["terminal_command"]
    sequence: int
    content: None
    metadata: TerminalCommandDocumentMetadata


class TerminalCommandDocument(_TerminalCommandDocument, total=False):
    status: Literal["in_progress"]


class _TerminalCommandDocumentMetadata(TypedDict):
    command: str
    exitCode: int
    output: str
    duration_ms: float
    permissions: list[Literal["network", "write_outside_workspace", "credentials", "unsandboxed"]]


class TerminalCommandDocumentMetadata(_TerminalCommandDocumentMetadata, total=False):
    agent: Agent
    toolName: str
    toolCallId: str
    providerToolCallId: str
    workingDirectory: str
    signal: str
    timedOut: Literal[True]
    truncated: Literal[True]
    background: Literal[True]
    terminalId: str
    refusals: list[str]


class _PlanDocument(TypedDict):
    id: str
    type: Literal["plan"]
    sequence: int
    content: str
    metadata: PlanDocumentMetadata


class PlanDocument(_PlanDocument, total=False):
    status: Literal["in_progress"]


class _PlanDocumentMetadata(TypedDict):
    title: str
    overview: str
    todos: list[PlanDocumentMetadataTodo]
    format: Literal["markdown"]


class PlanDocumentMetadata(_PlanDocumentMetadata, total=False):
    agent: Agent
    toolName: str
    toolCallId: str
    providerToolCallId: str
    planId: str
    revision: int


class PlanDocumentMetadataTodo(TypedDict):
    id: str
    content: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]
    dependencies: list[str]


class _ClarificationDocument(TypedDict):
    id: str
    type: Literal["clarification"]
    sequence: int
    content: str
    metadata: ClarificationDocumentMetadata


class ClarificationDocument(_ClarificationDocument, total=False):
    status: Literal["in_progress"]


class _ClarificationDocumentMetadata(TypedDict):
    questions: list[Question]


class ClarificationDocumentMetadata(_ClarificationDocumentMetadata, total=False):
    agent: Agent
    toolName: str
    toolCallId: str
    providerToolCallId: str


class _Question(TypedDict):
    id: str
    text: str
    options: list[QuestionOption]


class Question(_Question, total=False):
    allowMultiple: bool
    allowText: bool


class QuestionOption(TypedDict):
    id: str
    label: str


class _ErrorDocument(TypedDict):
    id: str
    type: Literal["error"]
    sequence: int
    content: str
    metadata: ErrorDocumentMetadata


class ErrorDocument(_ErrorDocument, total=False):
    status: Literal["in_progress"]


class _ErrorDocumentMetadata(TypedDict):
    errorCode: str
    source: str
    details: str


class ErrorDocumentMetadata(_ErrorDocumentMetadata, total=False):
    agent: Agent
    relatedDocumentId: str
    recoverable: bool


class _TodoUpdateDocument(TypedDict):
    id: str
    type: Literal["todo_update"]
    sequence: int
    content: None
    metadata: TodoUpdateDocumentMetadata


class TodoUpdateDocument(_TodoUpdateDocument, total=False):
    status: Literal["in_progress"]


class _TodoUpdateDocumentMetadata(TypedDict):
    todos: list[TodoUpdateDocumentMetadataTodo]


class TodoUpdateDocumentMetadata(_TodoUpdateDocumentMetadata, total=False):
    agent: Agent
    toolName: str
    toolCallId: str
    providerToolCallId: str


class _TodoUpdateDocumentMetadataTodo(TypedDict):
    id: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]


class TodoUpdateDocumentMetadataTodo(_TodoUpdateDocumentMetadataTodo, total=False):
    content: str
    dependencies: list[str]
    position: int


class ResponseStartEvent(TypedDict):
    id: int
    event: Literal["response_start"]
    data: ResponseStartEventData


class ResponseStartEventData(TypedDict):
    id: str
    conversationId: str
    model: str
    mode: Literal["agent", "plan", "ask", "debug"]
    created: str
    status: Literal["streaming"]
    protocol: Protocol
    heartbeat_ms: float


class Protocol(TypedDict):
    version: str
    schema: str


class DocumentStartEvent(TypedDict):
    id: int
    event: Literal["document_start"]
    data: DocumentStartEventData


class _DocumentStartEventData(TypedDict):
    id: str
    type: Literal["text", "code_reference", "code_block", "file_edit", "tool_call", "terminal_command", "plan", "clarification", "error", "todo_update"]
    sequence: int


class DocumentStartEventData(_DocumentStartEventData, total=False):
    metadata: dict[str, Any]


class ContentDeltaEvent(TypedDict):
    id: int
    event: Literal["content_delta"]
    data: ContentDeltaEventData


class ContentDeltaEventData(TypedDict):
    documentId: str
    delta: str


class ToolCallStartEvent(TypedDict):
    id: int
    event: Literal["tool_call_start"]
    data: ToolCallStartEventData


class ToolCallStartEventData(TypedDict):
    documentId: str
    toolName: str
    toolCallId: str


class ArgumentsDeltaEvent(TypedDict):
    id: int
    event: Literal["arguments_delta"]
    data: ContentDeltaEventData


class ToolCallArgumentsEvent(TypedDict):
    id: int
    event: Literal["tool_call_arguments"]
    data: ToolCallArgumentsEventData


class ToolCallArgumentsEventData(TypedDict):
    documentId: str
    arguments: dict[str, Any]


class OutputDeltaEvent(TypedDict):
    id: int
    event: Literal["output_delta"]
    data: OutputDeltaEventData


class OutputDeltaEventData(TypedDict):
    documentId: str
    stream: Literal["stdout", "stderr"]
    delta: str


class ToolResultEvent(TypedDict):
    id: int
    event: Literal["tool_result"]
    data: ToolResultEventData


class ToolResultEventData(TypedDict):
    documentId: str
    result: Result


class DocumentEndEvent(TypedDict):
    id: int
    event: Literal["document_end"]
    data: DocumentEndEventData


class _DocumentEndEventData(TypedDict):
    documentId: str


class DocumentEndEventData(_DocumentEndEventData, total=False):
    finalContent: str
    finalContentSha256: str
    finalContentLength: int
    metadata: dict[str, Any]


class ReasoningDeltaEvent(TypedDict):
    id: int
    event: Literal["reasoning_delta"]
    data: ReasoningDeltaEventData


class ReasoningDeltaEventData(TypedDict):
    delta: str


class SnapshotEvent(TypedDict):
    id: int
    event: Literal["snapshot"]
    data: SnapshotEventData


class SnapshotEventData(TypedDict):
    response: Snapshot


class ApprovalRequestEvent(TypedDict):
    id: int
    event: Literal["approval_request"]
    data: ApprovalRequestEventData


class _ApprovalRequestEventData(TypedDict):
    approvalId: str
    documentId: str
    title: str
    description: str
    subject: dict[str, Any]
    options: list[ApprovalRequestEventDataOption]
    expiresAt: str


class ApprovalRequestEventData(_ApprovalRequestEventData, total=False):
    reason: Reason
    agent: str
    answeredIn: Literal["terminal", "editor", "program"]


class _Reason(TypedDict):
    code: Literal["no_rule", "not_covered", "not_readable", "not_comparable", "ask_rule", "unclear_repository", "untrusted_repository", "server_question"]


class Reason(_Reason, total=False):
    value: str


class _ApprovalRequestEventDataOption(TypedDict):
    id: str
    label: str
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class ApprovalRequestEventDataOption(_ApprovalRequestEventDataOption, total=False):
    rules: list[str]


class ApprovalResolvedEvent(TypedDict):
    id: int
    event: Literal["approval_resolved"]
    data: ApprovalResolvedEventData


class ApprovalResolvedEventData(TypedDict):
    approvalId: str
    optionId: str
    by: str


class ProviderWaitEvent(TypedDict):
    id: int
    event: Literal["provider_wait"]
    data: ProviderWaitEventData


class ProviderWaitEventData(TypedDict):
    code: str
    until: str
    tries: int


class HookResultEvent(TypedDict):
    id: int
    event: Literal["hook_result"]
    data: Hook


class UserMessageEvent(TypedDict):
    id: int
    event: Literal["user_message"]
    data: Message


class DoneEvent(TypedDict):
    id: int
    event: Literal["done"]
    data: DoneEventData


class _DoneEventData(TypedDict):
    usage: DocumentsUsage


class DoneEventData(_DoneEventData, total=False):
    id: str
    status: Literal["completed", "error"]
    metadata: DocumentsMetadata


class _Snapshot(TypedDict):
    id: str
    conversationId: str
    model: str
    mode: Literal["agent", "plan", "ask", "debug"]
    created: str
    status: Literal["completed", "streaming", "error"]
    documents: list[TextDocument | CodeReferenceDocument | CodeBlockDocument | FileEditDocument | ToolCallDocument | TerminalCommandDocument | PlanDocument | ClarificationDocument | ErrorDocument | TodoUpdateDocument | InProgressDocument]
    usage: DocumentsUsage
    metadata: DocumentsMetadata


class Snapshot(_Snapshot, total=False):
    """A response of Sheaf, complete or not."""

    hooks: list[Hook]
    messages: list[Message]
    approvals: list[ApprovalRequestEventData]


class InProgressDocument(TypedDict):
    id: str
    type: Literal["text", "code_reference", "code_block", "file_edit", "tool_call", "terminal_command", "plan", "clarification", "error", "todo_update"]
    sequence: int
    content: str | None
    metadata: dict[str, Any]
    status: Literal["in_progress"]


class _ChatRequest(TypedDict):
    message: str


class ChatRequest(_ChatRequest, total=False):
    """A request to the Chat API of Sheaf."""

    workspace: str
    mode: Literal["agent", "plan", "ask", "debug"]
    model: str
    effort: Literal["off", "low", "medium", "high", "max"]
    webSearch: bool
    systemPrompt: str
    appendSystemPrompt: str
    approvals: Literal["deny", "ask"]
    accept: Accept
    onDisconnect: Literal["continue", "cancel"]
    whenBusy: Literal["reject", "queue", "steer", "cancel"]
    onConflict: Literal["refuse", "leave", "overwrite", "keep"]
    budget: Budget
    conversationId: str
    parentResponseId: str | None
    stream: bool
    answers: list[Answer]
    attachments: list[AttachmentUpload | ChatRequestAttachment]


class Accept(TypedDict, total=False):
    documentTypes: list[str]
    reasoning: bool


class Budget(TypedDict, total=False):
    maxTurns: int
    maxToolCalls: int
    maxTokens: int
    maxCostUsd: float
    timeout: float


class Answer(TypedDict):
    documentId: str
    questionId: str
    optionIds: list[str]
    text: str


class ChatRequestAttachment(TypedDict):
    id: str


class Error(TypedDict):
    """An error of the Chat API of Sheaf."""

    error: ErrorError


class ErrorError(TypedDict):
    errorCode: str
    message: str
    source: str
    details: str


class _Conversation(TypedDict):
    id: str
    title: str
    created: str
    updated: str
    turns: list[Turn]


class Conversation(_Conversation, total=False):
    """A conversation of Sheaf."""

    workspace: str
    mode: Literal["agent", "plan", "ask", "debug"]
    model: str
    effort: Literal["off", "low", "medium", "high", "max"]
    pinned: bool
    usage: ConversationUsage
    runningResponseId: str
    lastResponseId: str
    approvals: list[ConversationApproval]
    match: Match
    nextVersions: list[str]
    waiting: list[ConversationWaiting]


class _ConversationUsage(TypedDict):
    promptTokens: int
    completionTokens: int
    totalTokens: int


class ConversationUsage(_ConversationUsage, total=False):
    costUsd: float


class _ConversationApproval(TypedDict):
    approvalId: str
    responseId: str
    kind: Literal["command", "file_edit", "tool_call", "server_question"]
    expiresAt: str


class ConversationApproval(_ConversationApproval, total=False):
    reason: Reason
    answeredIn: Literal["terminal", "editor", "program"]


class _Match(TypedDict):
    where: Literal["title", "message", "answer"]
    text: str
    ranges: list[MatchRange]


class Match(_Match, total=False):
    responseId: str


class MatchRange(TypedDict):
    start: int
    end: int


class _Turn(TypedDict):
    message: str
    response: Snapshot


class Turn(_Turn, total=False):
    answers: list[Answer]
    attachments: list[MessageAttachment]
    versions: list[str]


class _ConversationWaiting(TypedDict):
    responseId: str
    message: str
    whenBusy: Literal["queue", "steer"]


class ConversationWaiting(_ConversationWaiting, total=False):
    attachments: list[MessageAttachment]


class _ConversationSummary(TypedDict):
    id: str
    title: str
    created: str
    updated: str


class ConversationSummary(_ConversationSummary, total=False):
    """A conversation of Sheaf, in short."""

    workspace: str
    mode: Literal["agent", "plan", "ask", "debug"]
    model: str
    effort: Literal["off", "low", "medium", "high", "max"]
    pinned: bool
    usage: ConversationUsage
    runningResponseId: str
    lastResponseId: str
    approvals: list[ConversationApproval]
    match: Match


class _Conversations(TypedDict):
    conversations: list[ConversationSummary]


class Conversations(_Conversations, total=False):
    """Some conversations of Sheaf, newest first."""

    next: str


class _Models(TypedDict):
    models: list[Model]


class Models(_Models, total=False):
    """Models that a request to Sheaf may name."""

    object: Literal["list"]
    data: list[Any]


class _Model(TypedDict):
    id: str


class Model(_Model, total=False):
    name: str
    contextTokens: int


class CancelResult(TypedDict):
    """The state of a response of Sheaf that was cancelled."""

    id: str
    status: Literal["cancelling", "ended"]


class _ApprovalAnswer(TypedDict):
    optionId: str


class ApprovalAnswer(_ApprovalAnswer, total=False):
    """An answer to an approval request of Sheaf."""

    message: str
    editedArguments: dict[str, Any]


class ApprovalResult(TypedDict):
    """An answer to an approval request of Sheaf that was accepted."""

    approvalId: str
    optionId: str


class ConversationChange(TypedDict, total=False):
    """A change of a conversation of Sheaf."""

    title: str
    mode: Literal["agent", "plan", "ask", "debug"]
    model: str
    effort: Literal["off", "low", "medium", "high", "max"] | None
    pinned: bool


class ConversationChanges(TypedDict):
    """The changes of a conversation of Sheaf in its files."""

    files: list[ConversationChangesFile]


class _ConversationChangesFile(TypedDict):
    filePath: str


class ConversationChangesFile(_ConversationChangesFile, total=False):
    operation: Literal["create", "edit", "delete", "rename"]
    newFilePath: str
    linesAdded: int
    linesRemoved: int
    hash: str
    patch: str
    changedSince: Literal[True]
    problem: str


class _ConversationComparison(TypedDict):
    conversations: list[ConversationComparisonConversation]
    files: list[str]


class ConversationComparison(_ConversationComparison, total=False):
    """Where two conversations part."""

    parting: Parting


class _ConversationComparisonConversation(TypedDict):
    conversationId: str
    model: str
    responses: int
    turns: int
    calls: int
    inputTokens: int
    outputTokens: int
    end: str
    files: list[str]


class ConversationComparisonConversation(_ConversationComparisonConversation, total=False):
    costUsd: float


class Parting(TypedDict):
    place: str
    message: str
    diff: str


class FileBlame(TypedDict):
    """What made the lines of a file."""

    path: str
    hash: str
    totalLines: int
    ranges: list[FileBlameRange]


class _FileBlameRange(TypedDict):
    startLine: int
    endLine: int


class FileBlameRange(_FileBlameRange, total=False):
    call: Call
    commit: Commit


class _Call(TypedDict):
    conversationId: str
    responseId: str
    callId: str
    tool: str
    model: str
    prompt: str
    time: str
    certain: bool


class Call(_Call, total=False):
    costUsd: float
    subagent: Literal[True]


class Commit(TypedDict):
    id: str
    author: str
    time: str


class _ChangeRevert(TypedDict):
    filePath: str


class ChangeRevert(_ChangeRevert, total=False):
    """A request to revert one change of a conversation of Sheaf."""

    hash: str
    hunk: int


class Workspaces(TypedDict):
    """Workspaces that a request to Sheaf may name."""

    workspaces: list[Workspace]


class _Workspace(TypedDict):
    name: str


class Workspace(_Workspace, total=False):
    default: Literal[True]
    branch: str


class WorkspaceFiles(TypedDict):
    """Files of a workspace of Sheaf."""

    files: list[WorkspaceFilesFile]
    truncated: bool


class WorkspaceFilesFile(TypedDict):
    path: str


class WorkspaceCommands(TypedDict):
    """The commands that a message to Sheaf can start with a slash."""

    commands: list[Command]
    truncated: bool


class Command(TypedDict):
    name: str
    kind: Literal["command", "skill"]
    description: str
    argumentHint: str


class WorkspaceFile(TypedDict):
    """Lines of a file in a workspace of Sheaf."""

    path: str
    content: str
    startLine: int
    endLine: int
    totalLines: int
    hash: str


class ForkRequest(TypedDict):
    """A request to fork a conversation of Sheaf."""

    responseId: str


class Waiting(TypedDict):
    """The messages that wait for a conversation of Sheaf."""

    waiting: list[ConversationWaiting]


class WaitingOrder(TypedDict):
    """The order of the messages that wait for a conversation of Sheaf."""

    waiting: list[WaitingOrderWaiting]


class _WaitingOrderWaiting(TypedDict):
    responseId: str


class WaitingOrderWaiting(_WaitingOrderWaiting, total=False):
    whenBusy: Literal["queue", "steer"]


class PublishRequest(TypedDict):
    """A request to publish the files of a conversation of Sheaf as a branch."""

    branch: str
    message: str


class PublishResult(TypedDict):
    """The branch that Sheaf published."""

    branch: str
    commit: str


class _RevertRequest(TypedDict):
    responseId: str


class RevertRequest(_RevertRequest, total=False):
    """A request to show another branch of a conversation of Sheaf."""

    onConflict: Literal["refuse", "leave", "overwrite", "keep"]
    dryRun: bool


class _RevertResult(TypedDict):
    responseIds: list[str]
    files: list[RevertResultFile]
    conflicts: list[Conflict]


class RevertResult(_RevertResult, total=False):
    """What another branch of a conversation of Sheaf changed."""

    leftOut: list[str]


class RevertResultFile(TypedDict):
    filePath: str
    action: Literal["restored", "removed", "unchanged"]


class Conflict(TypedDict):
    filePath: str
    reason: str


class SessionRequest(TypedDict, total=False):
    """A request of the page of Sheaf to be let in."""

    ticket: str


class AttachmentUpload(TypedDict):
    """A file for the Chat API of Sheaf."""

    name: str
    data: str


class Attachment(TypedDict):
    """A file that messages to the Chat API of Sheaf may name."""

    id: str
    name: str
    mediaType: Literal["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"]
    size: int
    created: str


class Attachments(TypedDict):
    """Files that messages to the Chat API of Sheaf may name, and their limits."""

    attachments: list[Attachment]
    limits: Limits


class Limits(TypedDict):
    fileBytes: int
    imageBytes: int
    textBytes: int
    messageFiles: int
    messageBytes: int
    files: int
    bytes: int
    keptSeconds: int


Event = Union[
    ResponseStartEvent,
    DocumentStartEvent,
    ContentDeltaEvent,
    ToolCallStartEvent,
    ArgumentsDeltaEvent,
    ToolCallArgumentsEvent,
    OutputDeltaEvent,
    ToolResultEvent,
    DocumentEndEvent,
    ReasoningDeltaEvent,
    SnapshotEvent,
    ApprovalRequestEvent,
    ApprovalResolvedEvent,
    ProviderWaitEvent,
    HookResultEvent,
    UserMessageEvent,
    DoneEvent,
]
