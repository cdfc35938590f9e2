/** A value whose JSON is known already: `jsonOf` puts the text in as it stands. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Answers are an object in which `data` is one, in which a list stands: below that no text is looked for. */
const levels = 3;

const inObject = (object: object, depth: number): string => {
  let text = '';
  for (const [key, value] of Object.entries(object)) {
    if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${inner(value, depth)}`;
  }
  return `{${text}}`;
};

const inner = (value: unknown, depth: number): string => {
  if (value instanceof JsonText) return value.text;
  if (depth === levels || typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (!Array.isArray(value)) {
    return Object.getPrototypeOf(value) === Object.prototype ? inObject(value, depth + 1) : JSON.stringify(value);
  }
  return value[0] instanceof JsonText
    ? `[${value.map((item) => inner(item, levels)).join(',')}]`
    : JSON.stringify(value);
};

/** What `JSON.stringify` gives, of a value that may be such a text or hold some: in an object, in a list of one. */
export const jsonOf = (value: unknown): string => inner(value, 0);
