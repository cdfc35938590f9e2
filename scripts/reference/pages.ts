import { apiPages } from './api-pages.ts';
import { errorsPage } from './errors-page.ts';
import { limitsPage } from './limits-page.ts';
import { settingsPage } from './settings-page.ts';

/** File below docs/reference → the text that the code makes of it. */
export const referencePages = (): ReadonlyMap<string, string> =>
  new Map([['errors.md', errorsPage()], ['limits.md', limitsPage()], ['settings.md', settingsPage()], ...apiPages()]);
