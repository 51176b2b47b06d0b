import { Button } from "../elements/button.tsx";
import { useMessages } from "../messages/use-messages.ts";

interface VersionSwitchProps {
  /** Ids of responses, oldest first. */
  readonly versions: readonly string[];
  readonly responseId: string;
  readonly onShow: (responseId: string) => void;
}

/** The number of the visible version of a message, and buttons for the others. */
export function VersionSwitch({ versions, responseId, onShow }: VersionSwitchProps) {
  const messages = useMessages();
  const at = versions.indexOf(responseId);
  const renderWay = (label: string, other: string | undefined) => (
    <Button icon="chevron" label={label} disabled={other === undefined} onClick={() => onShow(other!)} />
  );
  return (
    <span class="versions" role="group" aria-label={messages.versions}>
      {renderWay(messages.versionBefore, versions[at - 1])}
      <span>
        {at + 1}/{versions.length}
      </span>
      {renderWay(messages.versionAfter, versions[at + 1])}
    </span>
  );
}
