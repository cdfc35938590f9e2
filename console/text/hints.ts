import { t } from './words.ts';

/** Hints of the service about settings, with the names that the console gives them. */
export const inConsoleWords = (hints: readonly string[]): string =>
  hints.join(' ').replaceAll('siteUrl', t.settings.siteUrl).replaceAll('allowedDomains', t.settings.domains);
