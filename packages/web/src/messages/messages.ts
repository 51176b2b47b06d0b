/** The page's texts in one language, from its file. The English file defines which texts there are. */
import file from "./en.json" with { type: "json" };

/** Values of a template, by the names of its placeholders. Numbers get the language's format. */
type Values = Readonly<Record<string, string | number>>;
type Fill = (values: Values) => string;

/** A text with placeholders in braces, or one for each plural form that the language needs. */
type Template = string | Readonly<{ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>>;
type TemplateName = keyof typeof file.templates;

/** Content of one of this folder's language files. */
export interface LanguageFile extends Omit<typeof file, "templates"> {
  readonly templates: Readonly<Record<TemplateName, Template>>;
}

/** Groups of texts that the page looks up by names from the server. */
type OpenGroup = "documentTypes" | "approvalSubjects" | "permissions";

export type Messages = typeof file.texts &
  Readonly<Record<OpenGroup, Readonly<Record<string, string>>>> &
  Readonly<Record<TemplateName, Fill>> & {
    readonly approvalReasons: Readonly<Record<string, Fill>>;
    readonly ruleWords: Readonly<Record<string, Fill>>;
    readonly failures: typeof file.failures;
  };

export function createMessages({ texts, templates, approvalReasons, ruleWords, failures }: LanguageFile): Messages {
  const plurals = new Intl.PluralRules(texts.locale);
  const toFill =
    (template: Template): Fill =>
    (values) => {
      const number = Object.values(values).find((value) => typeof value === "number") ?? 0;
      const text = typeof template === "string" ? template : (template[plurals.select(number)] ?? template.other);
      return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name]?.toLocaleString(texts.locale) ?? "");
    };
  const fillAll = <Name extends string>(all: Readonly<Record<Name, Template>>): Record<Name, Fill> =>
    Object.fromEntries(Object.entries<Template>(all).map(([name, template]) => [name, toFill(template)])) as Record<
      Name,
      Fill
    >;
  const filled = { approvalReasons: fillAll(approvalReasons), ruleWords: fillAll(ruleWords) };
  return { ...texts, ...fillAll(templates), ...filled, failures };
}

/** The English texts, which are always loaded. */
export const english = createMessages(file);
