/** What failed and what to do about it, in German. */
import type { englishFailures } from "./english-failures.ts";

const sendAgain = "Senden Sie die Nachricht noch einmal.";
const goOn = "Schreiben Sie „weiter“, um fortzufahren.";
const otherWords = "Formulieren Sie die Nachricht um oder wählen Sie ein anderes Modell.";

export const germanFailures: typeof englishFailures = {
  answer: {
    INTERNAL: [
      "In Sheaf ist etwas schiefgelaufen",
      "Das ist ein Programmfehler. Bitte melden Sie ihn mit den Details.",
    ],
    USAGE: ["Die Anfrage wurde nicht angenommen", "Die Zeile darunter nennt, was zu ändern ist."],
    CONFIG_INVALID: ["Die Konfiguration des Servers ist ungültig", "Wer den Server betreibt, kann sie korrigieren."],
    AUTH_REQUIRED: [
      "Für diesen Anbieter fehlt der API-Schlüssel",
      "Hinterlegen Sie ihn auf dem Server: als Umgebungsvariable oder dort mit `sheaf login`.",
    ],
    AUTH_REJECTED: [
      "Der Anbieter hat den API-Schlüssel abgelehnt",
      "Prüfen Sie ihn mit `sheaf status` auf dem Rechner des Servers.",
    ],
    PROVIDER_REJECTED: [
      "Der Anbieter hat die Anfrage abgelehnt",
      "Wählen Sie ein anderes Modell oder ändern Sie, was die Zeile darunter nennt.",
    ],
    CONTEXT_LENGTH: [
      "Der Chat ist zu lang für das Modell",
      "Beginnen Sie einen neuen oder wählen Sie ein Modell mit größerem Kontextfenster.",
    ],
    CONTENT_FILTER: ["Der Inhaltsfilter des Anbieters hat die Antwort gestoppt", otherWords],
    MODEL_NOT_FOUND: ["Dieses Modell ist nicht verfügbar", "Wählen Sie ein anderes Modell."],
    RATE_LIMITED: ["Zu viele Anfragen", "Warten Sie einen Moment und senden Sie die Nachricht noch einmal."],
    OVERLOADED: [
      "Der Anbieter ist überlastet",
      "Versuchen Sie es später noch einmal oder wählen Sie ein anderes Modell.",
    ],
    NETWORK: [
      "Der Server erreicht den Anbieter nicht",
      "Prüfen Sie seine Verbindung und senden Sie die Nachricht noch einmal.",
    ],
    STREAM_STALLED: ["Der Anbieter antwortet nicht mehr", sendAgain],
    STREAM_TRUNCATED: ["Der Anbieter hat die Antwort abgebrochen", sendAgain],
    EMPTY_ANSWER: [
      "Das Modell hat eine leere Antwort geliefert",
      "Senden Sie die Nachricht noch einmal oder wählen Sie ein anderes Modell.",
    ],
    MAX_TOKENS: ["Die Antwort hat die Längengrenze des Modells erreicht", goOn],
    REFUSED: ["Das Modell möchte darauf nicht antworten", otherWords],
    OUTPUT_INVALID: ["Die Antwort hat nicht die verlangte Form", sendAgain],
    LOOP_DETECTED: ["Das Modell hat sich ständig wiederholt", "Sagen Sie ihm, was es stattdessen tun soll."],
    BUDGET_TURNS: ["Schrittlimit erreicht", goOn],
    BUDGET_TOOLS: ["Limit der Werkzeugaufrufe erreicht", goOn],
    BUDGET_TOKENS: ["Token-Limit erreicht", goOn],
    BUDGET_COST: ["Kostenlimit erreicht", "Wer den Server betreibt, kann es erhöhen."],
    BUDGET_TIME: ["Zeitlimit erreicht", goOn],
    PERMISSION_REQUIRED: ["Eine Berechtigung fehlt", "Wer den Server betreibt, kann sie mit einer Regel erteilen."],
    SANDBOX_UNAVAILABLE: [
      "Befehle können hier nicht laufen",
      "Wer den Server betreibt, kann die Sandbox einrichten: `sheaf doctor` zeigt, wie.",
    ],
    STORAGE_FULL: [
      "Der Datenträger des Servers ist voll",
      "Schaffen Sie Platz und senden Sie die Nachricht noch einmal.",
    ],
    STORAGE_LOCKED: ["Der Speicher des Servers ist belegt", sendAgain],
    STORAGE_CORRUPT: [
      "Der Speicher des Servers ist beschädigt",
      "Wer den Server betreibt, kann ihn mit `sheaf doctor` prüfen.",
    ],
    CONVERSATION_BUSY: [
      "Hier wird gerade eine andere Antwort geschrieben",
      "Stoppen Sie sie oder warten Sie, bis sie fertig ist.",
    ],
    NEEDS_INPUT: ["Das Modell hat eine Frage", "Beantworten Sie sie, um fortzufahren."],
    CANCELLED: ["Gestoppt", ""],
  },
  step: {
    BINARY_FILE: "Binärdatei",
    COMMAND_NOT_STARTED: "Befehl ließ sich nicht starten",
    DISK_FULL: "Datenträger voll",
    FILE_EXISTS: "Datei existiert bereits",
    FILE_NOT_FOUND: "Datei nicht gefunden",
    FILE_TOO_LARGE: "Datei zu groß",
    INVALID_ARGUMENTS: "Ungültiger Werkzeugaufruf",
    INVALID_PATTERN: "Ungültiges Suchmuster",
    PATH_OUTSIDE_WORKSPACE: "Außerhalb des Arbeitsbereichs",
    PERMISSION_DENIED: "Nicht erlaubt",
    PROTECTED_PATH: "Geschützte Datei",
    READ_ONLY: "Schreibgeschützte Datei",
    SEARCH_FAILED: "Suche fehlgeschlagen",
    STALE_FILE: "Datei wurde inzwischen geändert",
    TOOL_FAILED: "Werkzeug fehlgeschlagen",
    UNKNOWN_TOOL: "Unbekanntes Werkzeug",
    WEB_SEARCH_FAILED: "Websuche fehlgeschlagen",
  },
};
