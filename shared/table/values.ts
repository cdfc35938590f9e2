/** A value that the table keeps: text, a number, or a set of texts, which is never empty. */
type Value = string | number | ReadonlySet<string>;

/** Values by their names; `undefined` is left out of the table. */
export type Values = Readonly<Record<string, Value | undefined>>;

export type Item = Readonly<Record<string, Value>>;

/** A value as DynamoDB takes it. */
type Attribute = { S: string } | { N: string } | { SS: string[] };

const toAttribute = (value: Value): Attribute => {
  if (typeof value === 'string') return { S: value };
  return typeof value === 'number' ? { N: String(value) } : { SS: [...value] };
};

/** Values as DynamoDB takes them; `mark` goes before each name. */
export const toAttributes = (values: Values, mark = ''): Record<string, Attribute> => {
  const attributes: Record<string, Attribute> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) attributes[mark + name] = toAttribute(value);
  }
  return attributes;
};

/** What DynamoDB returned as plain values. An attribute of a type that is written nowhere is left out. */
export const fromAttributes = (
  attributes: Readonly<
    Record<string, { readonly S?: string; readonly N?: string; readonly SS?: readonly string[] | undefined }>
  >,
): Item => {
  const item: Record<string, Value> = {};
  for (const [name, { S, N, SS }] of Object.entries(attributes)) {
    if (S !== undefined) item[name] = S;
    else if (N !== undefined) item[name] = Number(N);
    else if (SS !== undefined) item[name] = new Set(SS);
  }
  return item;
};
