import type { JsonText } from '../core/json.ts';

type Row = Readonly<Record<string, unknown>>;

/** Commas separate the columns. The others are quoted too, so that an import finds only commas outside quotes. */
const needsQuotes = /[",;|\t\r\n]/;

export const csvCell = (text: string): string => (needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/**
 * Spreadsheets run a text that begins so as a formula (OWASP, "CSV Injection"). An apostrophe before it makes it text.
 * Texts that begin with apostrophes and such a character get one too, so that an import knows which one to remove.
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;
const guarded = /^'+[=+\-@\t\r\n＝＋－＠]/;

const guard = (text: string): string => (formula.test(text) ? `'${text}` : text);

/** The text of a cell without the apostrophe that an export or a spreadsheet puts before formulas. */
export const unguarded = (cell: string): string => (guarded.test(cell) ? cell.slice(1) : cell);

/** Lists and objects are JSON; a missing value and `null` are empty. Only texts can be formulas: numbers stay numbers. */
const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return csvCell(guard(value));
  return csvCell(typeof value === 'object' ? JSON.stringify(value) : String(value));
};

const rowOf = ({ text }: JsonText): Row => JSON.parse(text) as Row;

/** The fields of a document, in its order. */
export const fieldsIn = (document: JsonText): readonly string[] => Object.keys(rowOf(document));

/** The value at a dotted path; of a list the values of its elements. */
const valueAt = (value: unknown, path: readonly string[]): unknown => {
  const [name, ...rest] = path;
  if (name === undefined || typeof value !== 'object' || value === null) return name === undefined ? value : undefined;
  if (Array.isArray(value)) {
    const values = value.map((element) => valueAt(element, path)).filter((one) => one !== undefined);
    return values.length === 0 ? undefined : values;
  }
  return Object.hasOwn(value, name) ? valueAt((value as Row)[name], rest) : undefined;
};

export const csvHeader = (columns: readonly string[]): string => columns.map((name) => csvCell(guard(name))).join(',');

export const csvRow = (columns: readonly string[], document: JsonText): string => {
  const row = rowOf(document);
  return columns.map((name) => cellOf(Object.hasOwn(row, name) ? row[name] : valueAt(row, name.split('.')))).join(',');
};
