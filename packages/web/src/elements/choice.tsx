interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  /** Label of each value. */
  readonly options: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
  /** True if the label is visible beside the list. */
  readonly isSetting?: boolean;
  /** True if the values are languages, whose labels are each in that language. */
  readonly isLanguage?: boolean;
}

/** A list to choose one value from. */
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
