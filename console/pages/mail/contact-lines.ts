export interface ContactLine {
  readonly line: string;
  readonly email: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/** The cells of a line of CSV, with or without quotes, or of a line copied from a spreadsheet. */
const cellsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|[,;\t])\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))/g)].map(([, quoted, plain = '']) =>
    (quoted === undefined ? plain : quoted.replaceAll('""', '"')).trim(),
  );

/** Contacts, one per line: email, first name, last name. A header line and empty lines are left out. */
export const contactLines = (text: string): readonly ContactLine[] =>
  text
    .split(/\r?\n/)
    .filter((line, at) => line.trim() !== '' && !(at === 0 && !line.includes('@') && /mail/i.test(line)))
    .map((line) => {
      const [email = '', firstName = '', lastName = ''] = cellsOf(line);
      return { line, email, ...(firstName ? { firstName } : {}), ...(lastName ? { lastName } : {}) };
    });
