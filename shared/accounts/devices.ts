import { isIP } from 'node:net';
import { clock } from '../core/clock.ts';
import { tryOrLog } from '../core/log.ts';
import { type Addressee, notifyOwner } from './account-mail.ts';
import type { AccountRecord, AccountStore } from './account-store.ts';
import type { Client } from './sessions.ts';

/** How many devices an account remembers: those that it met last. */
const maxDevices = 10;

/** The first that matches counts, as browsers name those that they want to pass for as well. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg[A-Za-z]*\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  // The second three are browsers that exist on iOS only, and on an iPad call themselves Macintosh.
  [/iPhone|iPad|iPod|CriOS|FxiOS|EdgiOS/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'ChromeOS'],
  [/Macintosh|Darwin/, 'macOS'],
  [/Linux/, 'Linux'],
];

const firstOf = (names: typeof browsers, userAgent: string): string | undefined =>
  names.find(([sign]) => sign.test(userAgent))?.[1];

/** A version inside of a name, with everything after it: `-2.0.1`, `_v3`, `2.0-beta`. */
const versionInName = /(?:[-_.]v?\d|v?\d+\.\d).*$/i;

/** What a program that is no browser calls itself, without its version. */
const programOf = (userAgent: string): string =>
  /^[A-Za-z][\w.-]{0,31}/
    .exec(userAgent)?.[0]
    .replace(versionInName, '')
    .replace(/[-_.]+$/, '') || 'unknown';

/**
 * The system that a mail names. Apps on iOS and macOS both say Darwin, and Safari on an iPad says Macintosh, so that is
 * left out or named with both.
 */
const shownSystem = (userAgent: string, browser: string | undefined, system: string | undefined) => {
  if (system !== 'macOS') return system;
  if (!userAgent.includes('Macintosh')) return undefined;
  return browser === 'Safari' ? 'macOS or iPadOS' : system;
};

/**
 * What a client signs in with, without versions, so that an update makes no new device: `device` tells it from others,
 * `label` is made of our own words alone, for a mail.
 */
export const deviceOf = ({ userAgent }: Pick<Client, 'userAgent'>) => {
  const browser = firstOf(browsers, userAgent);
  const system = firstOf(systems, userAgent);
  const on = (name: string | undefined): string => (name === undefined ? '' : ` on ${name}`);
  return {
    device: `${browser ?? programOf(userAgent)}${on(system)}`,
    label: `${browser ?? 'An app'}${on(shownSystem(userAgent, browser, system))}`,
  };
};

/** What an account remembers that is signed in to for the first time. */
export const firstDevice = (client: Client): { readonly devices: readonly string[] } => ({
  devices: [deviceOf(client).device],
});

/** Of any number of parallel sign-ins one learns a device. */
const learn = ({ note }: AccountStore, { _id }: Pick<AccountRecord, '_id'>, device: string): Promise<boolean> =>
  note(
    { _id, '_signIn.devices': { $ne: device } },
    { $push: { '_signIn.devices': { $each: [device], $slice: -maxDevices } } },
  );

const placeOf = ({ ip }: Client): string => (isIP(ip) ? ip : 'an unknown address');

/** As `2026-11-23 02:31 UTC`. */
const timeNow = (): string => `${new Date(clock.now()).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/**
 * Has an account that is signed in to learn a device that it does not know, and mails its owner, once; an account that
 * knows none yet learns its first in silence. The sign-in stands whether or not that succeeds.
 */
export const recordDevice = async (
  store: AccountStore,
  account: Pick<AccountRecord, '_id' | '_signIn'> & Addressee,
  client: Client,
): Promise<void> => {
  const { device, label } = deviceOf(client);
  const known = account._signIn?.devices;
  if (known?.includes(device)) return;
  await tryOrLog('error', { message: 'An account could not learn the device of a sign-in' }, async () => {
    if (!(await learn(store, account, device)) || !known) return;
    const variables = { device: label, place: placeOf(client), time: timeNow() };
    await notifyOwner(store, account, { template: 'new-device', variables });
  });
};
