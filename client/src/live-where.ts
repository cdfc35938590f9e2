type Value = string | number | boolean | null;

/** Dates and ids are texts here, and may be equal to the service although they are written in another way. */
const mayBeWrittenOtherwise = /^\d{4}-\d\d|^[0-9a-f]{24}$/i;

/** Whether a value is the one that a condition asks for; `undefined` where only the service knows. */
const isWanted = (wanted: unknown, value: unknown = null): boolean | undefined => {
  if (Object(wanted) === wanted || Object(value) === value) return undefined;
  if (wanted === value) return true;
  return mayBeWrittenOtherwise.test(String(wanted as Value)) ? undefined : false;
};

/**
 * Whether a document is one of `where`, as far as that can be told without asking: of plain values of its own fields.
 */
export const isIn = (where: object, document: object): boolean | undefined => {
  const outcomes = Object.entries(where).map(([field, wanted]) =>
    /^\$|\./.test(field) ? undefined : isWanted(wanted, (document as Record<string, unknown>)[field]),
  );
  return outcomes.includes(false) ? false : outcomes.includes(undefined) ? undefined : true;
};
