import { isIP } from 'node:net';
import { clock } from '../core/clock.ts';
import { tryOrLog } from '../core/log.ts';
import { type Addressee, notifyOwner } from './account-mail.ts';
import type { AccountRecord, AccountStore } from './account-store.ts';
import type { Client } from './sessions.ts';

/** The latest ones are kept. */
const maxDevices = 10;

/** The first match counts, because browsers also name those they imitate. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg[A-Za-z]*\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  // CriOS, FxiOS and EdgiOS exist on iOS only, and say Macintosh on an iPad.
  [/iPhone|iPad|iPod|CriOS|FxiOS|EdgiOS/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'ChromeOS'],
  [/Macintosh|Darwin/, 'macOS'],
  [/Linux/, 'Linux'],
];

const firstOf = (names: typeof browsers, userAgent: string): string | undefined =>
  names.find(([sign]) => sign.test(userAgent))?.[1];

/** A version and everything after it: `-2.0.1`, `_v3`, `2.0-beta`. */
const versionInName = /(?:[-_.]v?\d|v?\d+\.\d).*$/i;

/** Name of a program that is no browser. */
const programOf = (userAgent: string): string =>
  /^[A-Za-z][\w.-]{0,31}/
    .exec(userAgent)?.[0]
    .replace(versionInName, '')
    .replace(/[-_.]+$/, '') || 'unknown';

/** Apps on iOS and macOS both say Darwin, and Safari on an iPad says Macintosh. */
const shownSystem = (userAgent: string, browser: string | undefined, system: string | undefined) => {
  if (system !== 'macOS') return system;
  if (!userAgent.includes('Macintosh')) return undefined;
  return browser === 'Safari' ? 'macOS or iPadOS' : system;
};

/** Without versions, so that updates are no new device. `label` has only our own words, for emails. */
export const deviceOf = ({ userAgent }: Pick<Client, 'userAgent'>) => {
  const browser = firstOf(browsers, userAgent);
  const system = firstOf(systems, userAgent);
  const on = (name: string | undefined): string => (name === undefined ? '' : ` on ${name}`);
  return {
    device: `${browser ?? programOf(userAgent)}${on(system)}`,
    label: `${browser ?? 'An app'}${on(shownSystem(userAgent, browser, system))}`,
  };
};

export const firstDevice = (client: Client): { readonly devices: readonly string[] } => ({
  devices: [deviceOf(client).device],
});

/** One of any number of concurrent sign-ins adds the device. */
const addDevice = ({ note }: AccountStore, { _id }: Pick<AccountRecord, '_id'>, device: string): Promise<boolean> =>
  note(
    { _id, '_signIn.devices': { $ne: device } },
    { $push: { '_signIn.devices': { $each: [device], $slice: -maxDevices } } },
  );

const placeOf = ({ ip }: Client): string => (isIP(ip) ? ip : 'an unknown address');

/** `2026-11-23 02:31 UTC`. */
const timeNow = (): string => `${new Date(clock.now()).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Adds an unknown device to the account and emails its owner, except for the first device. Errors are only logged. */
export const recordDevice = async (
  store: AccountStore,
  account: Pick<AccountRecord, '_id' | '_signIn'> & Addressee,
  client: Client,
): Promise<void> => {
  const { device, label } = deviceOf(client);
  const known = account._signIn?.devices;
  if (known?.includes(device)) return;
  await tryOrLog('error', { message: 'An account could not learn the device of a sign-in' }, async () => {
    if (!(await addDevice(store, account, device)) || !known) return;
    const variables = { device: label, place: placeOf(client), time: timeNow() };
    await notifyOwner(store, account, { template: 'new-device', variables });
  });
};
