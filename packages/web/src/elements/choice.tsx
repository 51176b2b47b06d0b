interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  /** What each value is called. */
  readonly options: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
  /** The label stands beside it. */
  readonly isSetting?: boolean;
  /** The values are languages, and each is called by its own name. */
  readonly isLanguage?: boolean;
}

/** One of a closed list. */
export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, value, options, onChange, isSetting = false, isLanguage = false } = props;
  const values = Object.keys(options) as Value[];
  const named = !isSetting && { "aria-label": label, title: label };
  const select = (
    <select class="choice" {...named} value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
      {values.map((each) => (
        <option key={each} value={each} lang={isLanguage && each !== "" ? each : undefined}>
          {options[each]}
        </option>
      ))}
    </select>
  );
  if (!isSetting) return select;
  return (
    <label class="setting">
      <span>{label}</span>
      {select}
    </label>
  );
}
