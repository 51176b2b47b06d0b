/** What failed and what to do about it, in Japanese. */
import type { englishFailures } from "./english-failures.ts";

const sendAgain = "もう一度送信してください。";
const goOn = "「続けて」と送信すると再開します。";
const otherWords = "表現を変えるか、別のモデルを選んでください。";

export const japaneseFailures: typeof englishFailures = {
  answer: {
    INTERNAL: ["Sheaf で問題が発生しました", "Sheaf の不具合です。詳細を添えて報告してください。"],
    USAGE: ["リクエストを受け付けられませんでした", "変更が必要な点は下の行に示されています。"],
    CONFIG_INVALID: ["サーバーの設定に誤りがあります", "サーバーの管理者が修正できます。"],
    AUTH_REQUIRED: [
      "このプロバイダーの API キーがありません",
      "環境変数か、サーバーのマシンでの `sheaf login` で設定してください。",
    ],
    AUTH_REJECTED: [
      "プロバイダーが API キーを拒否しました",
      "サーバーのマシンで `sheaf status` を使って確認してください。",
    ],
    PROVIDER_REJECTED: [
      "プロバイダーがリクエストを拒否しました",
      "別のモデルを選ぶか、下の行に示された点を変更してください。",
    ],
    CONTEXT_LENGTH: [
      "会話がモデルの上限を超えています",
      "新しい会話を始めるか、コンテキストウィンドウの大きいモデルを選んでください。",
    ],
    CONTENT_FILTER: ["プロバイダーのコンテンツフィルターが回答を止めました", otherWords],
    MODEL_NOT_FOUND: ["このモデルは利用できません", "別のモデルを選んでください。"],
    RATE_LIMITED: ["リクエストが多すぎます", "しばらく待ってから、もう一度送信してください。"],
    OVERLOADED: ["プロバイダーが混み合っています", "後でもう一度試すか、別のモデルを選んでください。"],
    NETWORK: ["サーバーがプロバイダーに接続できません", "サーバーの接続を確認してから、もう一度送信してください。"],
    STREAM_STALLED: ["プロバイダーからの応答が途絶えました", sendAgain],
    STREAM_TRUNCATED: ["プロバイダーからの回答が途中で切れました", sendAgain],
    EMPTY_ANSWER: ["モデルの回答が空でした", "もう一度送信するか、別のモデルを選んでください。"],
    MAX_TOKENS: ["回答がモデルの長さの上限に達しました", goOn],
    REFUSED: ["モデルが回答を控えました", otherWords],
    OUTPUT_INVALID: ["回答が求められた形式になっていません", sendAgain],
    LOOP_DETECTED: ["モデルが同じことを繰り返しています", "代わりに何をするかを伝えてください。"],
    BUDGET_TURNS: ["ステップ数の上限に達しました", goOn],
    BUDGET_TOOLS: ["ツール呼び出し数の上限に達しました", goOn],
    BUDGET_TOKENS: ["トークン数の上限に達しました", goOn],
    BUDGET_COST: ["費用の上限に達しました", "サーバーの管理者が上限を引き上げられます。"],
    BUDGET_TIME: ["制限時間に達しました", goOn],
    PERMISSION_REQUIRED: ["必要な権限がありません", "サーバーの管理者がルールで許可できます。"],
    SANDBOX_UNAVAILABLE: [
      "ここではコマンドを実行できません",
      "サーバーの管理者がサンドボックスを設定できます。方法は `sheaf doctor` で確認できます。",
    ],
    STORAGE_FULL: ["サーバーのディスクがいっぱいです", "空き容量を確保してから、もう一度送信してください。"],
    STORAGE_LOCKED: ["サーバーのストレージが使用中です", sendAgain],
    STORAGE_CORRUPT: ["サーバーのストレージが破損しています", "サーバーの管理者が `sheaf doctor` で確認できます。"],
    CONVERSATION_BUSY: ["この会話では別の回答を作成中です", "停止するか、終わるまでお待ちください。"],
    NEEDS_INPUT: ["モデルから質問があります", "答えると続行します。"],
    CANCELLED: ["停止しました", ""],
  },
  step: {
    BINARY_FILE: "バイナリファイルです",
    COMMAND_NOT_STARTED: "コマンドを開始できませんでした",
    DISK_FULL: "ディスクがいっぱいです",
    FILE_EXISTS: "ファイルがすでに存在します",
    FILE_NOT_FOUND: "ファイルが見つかりません",
    FILE_TOO_LARGE: "ファイルが大きすぎます",
    INVALID_ARGUMENTS: "ツールの呼び出しが無効です",
    INVALID_PATTERN: "検索パターンが無効です",
    PATH_OUTSIDE_WORKSPACE: "ワークスペースの外です",
    PERMISSION_DENIED: "許可されていません",
    PROTECTED_PATH: "保護されたファイルです",
    READ_ONLY: "読み取り専用のファイルです",
    SEARCH_FAILED: "検索に失敗しました",
    STALE_FILE: "ファイルが途中で変更されました",
    TOOL_FAILED: "ツールが失敗しました",
    UNKNOWN_TOOL: "不明なツールです",
    WEB_SEARCH_FAILED: "ウェブ検索に失敗しました",
  },
};
