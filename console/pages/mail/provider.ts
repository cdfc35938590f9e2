/** A record of the mail provider as received. The shown fields are read one by one. */
export type ProviderRecord = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is ProviderRecord => typeof value === 'object' && value !== null;

export const recordOf = (answer: unknown): ProviderRecord => (isRecord(answer) ? answer : {});

export const recordsOf = (answer: unknown): readonly ProviderRecord[] => {
  const { data } = recordOf(answer);
  return Array.isArray(data) ? data.filter(isRecord) : [];
};

/** Whether the list continues. */
export const hasMore = (answer: unknown): boolean => recordOf(answer).has_more === true;

export const textIn = (record: ProviderRecord, field: string): string => {
  const value = record[field];
  return typeof value === 'string' ? value : '';
};

/** A time in a record, as `Time` takes it. */
export const timeIn = (record: ProviderRecord, field: string): string | null => {
  const time = Date.parse(textIn(record, field));
  return Number.isNaN(time) ? null : new Date(time).toISOString();
};

export const idOf = (record: ProviderRecord): string => textIn(record, 'id');
