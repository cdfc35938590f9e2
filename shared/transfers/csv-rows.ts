import type { JsonText } from '../core/json.ts';

type Row = Readonly<Record<string, unknown>>;

/** Commas separate the columns. The others are quoted too, so that an import finds only commas outside quotes. */
const needsQuotes = /[",;|\t\r\n]/;

const quoted = (text: string): string => (needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Lists and objects are JSON; a missing value and `null` are empty. */
const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return quoted(typeof value === 'object' ? JSON.stringify(value) : String(value));
};

const rowOf = ({ text }: JsonText): Row => JSON.parse(text) as Row;

/** The fields of a document, in its order. */
export const fieldsIn = (document: JsonText): readonly string[] => Object.keys(rowOf(document));

export const csvHeader = (columns: readonly string[]): string => columns.map(quoted).join(',');

export const csvRow = (columns: readonly string[], document: JsonText): string => {
  const row = rowOf(document);
  return columns.map((name) => cellOf(Object.hasOwn(row, name) ? row[name] : undefined)).join(',');
};
