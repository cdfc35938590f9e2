type Value = string | number | boolean | null;

/** Dates and ids are texts here. Different spellings may be equal for the service. */
const mayBeWrittenOtherwise = /^\d{4}-\d\d|^[0-9a-f]{24}$/i;

/** Whether a value is the one in a condition; `undefined` if only the service can tell. */
const isWanted = (wanted: unknown, value: unknown = null): boolean | undefined => {
  if (Object(wanted) === wanted || Object(value) === value) return undefined;
  if (wanted === value) return true;
  return mayBeWrittenOtherwise.test(String(wanted as Value)) ? undefined : false;
};

/** Whether a document matches `where`, if plain values of its own fields can tell without asking the service. */
export const isIn = (where: object, document: object): boolean | undefined => {
  const outcomes = Object.entries(where).map(([field, wanted]) =>
    /^\$|\./.test(field) ? undefined : isWanted(wanted, (document as Record<string, unknown>)[field]),
  );
  return outcomes.includes(false) ? false : outcomes.includes(undefined) ? undefined : true;
};
