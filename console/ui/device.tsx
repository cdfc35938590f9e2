import { t } from '../text/words.ts';

/** The first that matches. Most browsers also name those that come later. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const nameIn = (names: typeof browsers, userAgent: string): string | undefined =>
  names.find(([pattern]) => pattern.test(userAgent))?.[1];

/** `Safari on iPhone`; the whole user agent is the tooltip. One that is no browser is shown as it is. */
export const Device = ({ userAgent }: { readonly userAgent: string }) => {
  const [browser, system] = [nameIn(browsers, userAgent), nameIn(systems, userAgent)];
  return <span title={userAgent}>{browser && system ? t.users.browserOn(browser, system) : userAgent}</span>;
};
