/** A reader of Seatbelt profiles, written for tests alone: which operation on which place a profile lets through. */

type Form = string | readonly Form[];

/** Forms in brackets; a text keeps its opening quote. @throws Error for what is not closed. */
function parseForms(text: string): Form[] {
  const tokens = text.match(/\(|\)|"(?:[^"\\]|\\.)*"|[^\s()"]+/gs) ?? [];
  const stack: Form[][] = [[]];
  for (const token of tokens) {
    if (token === "(") stack.push([]);
    else if (token === ")") {
      const form = stack.pop()!;
      if (stack.length === 0) throw new Error("a bracket too many");
      stack.at(-1)!.push(form);
    } else stack.at(-1)!.push(token.startsWith('"') ? token.slice(0, -1) : token);
  }
  if (stack.length !== 1) throw new Error("a bracket is open");
  return stack[0]!;
}

export interface SeatbeltRules {
  /** `place`: a path, or `localhost:PORT`. */
  isAllowed(operation: string, place: string): boolean;
}

/** Of all rules about an operation the last one that fits holds. */
export function readSeatbeltRules(text: string, parameters: Readonly<Record<string, string>>): SeatbeltRules {
  const rules = parseForms(text).filter((form): form is readonly Form[] => form[0] === "allow" || form[0] === "deny");
  const toText = (form: Form | undefined): string => {
    if (typeof form === "string") return form.slice(1);
    const name = form?.[0] === "param" ? String(form[1]).slice(1) : "";
    if (!Object.hasOwn(parameters, name)) throw new Error(`no parameter ${name}`);
    return parameters[name]!;
  };
  const isPlace = (filter: readonly Form[], place: string): boolean => {
    const [kind, value] = filter;
    if (kind === "literal") return place === toText(value);
    if (kind === "subpath") return place === toText(value) || place.startsWith(`${toText(value)}/`);
    if (kind === "remote") return filter[1] === "ip" && place === toText(filter[2]);
    // About processes and services, not about places.
    return false;
  };
  return {
    isAllowed(operation, place) {
      const fitting = rules.filter(([, ...parts]) => {
        const operations = parts.filter((part) => typeof part === "string");
        const filters = parts.filter((part) => typeof part !== "string");
        const isAbout = operations.some((name) =>
          name === "default" ? true : name.endsWith("*") ? operation.startsWith(name.slice(0, -1)) : name === operation,
        );
        return isAbout && (filters.length === 0 || filters.some((filter) => isPlace(filter, place)));
      });
      return fitting.at(-1)?.[0] === "allow";
    },
  };
}
