/** A value whose JSON is known already: `jsonOf` puts the text in as it stands. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Answers are an object in which `data` is one, in which a list stands: below that no text is looked for. */
const levels = 3;

const holdsText = (value: unknown, below: number): boolean => {
  if (typeof value !== 'object' || value === null || below < 0) return false;
  if (value instanceof JsonText) return true;
  if (Array.isArray(value)) return value[0] instanceof JsonText;
  for (const key in value) if (holdsText((value as Record<string, unknown>)[key], below - 1)) return true;
  return false;
};

const inner = (value: unknown, below: number): string => {
  if (value instanceof JsonText) return value.text;
  if (!holdsText(value, below)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => inner(item, 0)).join(',')}]`;
  const fields = Object.entries(value as object).filter(([, field]) => field !== undefined);
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${inner(field, below - 1)}`).join(',')}}`;
};

/** What `JSON.stringify` gives, of a value that may be such a text or hold some: in an object, in a list of one. */
export const jsonOf = (value: unknown): string => inner(value, levels);
