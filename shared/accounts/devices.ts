import { isIP } from 'node:net';
import { clock } from '../core/clock.ts';
import { orLog } from '../core/log.ts';
import type { AccountRecord, AccountStore } from './account-store.ts';
import type { Client } from './sessions.ts';
import { type Addressee, tellOwner } from './tell-of-change.ts';

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
  [/iPhone|iPad|iPod/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'ChromeOS'],
  [/Macintosh|Darwin/, 'macOS'],
  [/Linux/, 'Linux'],
];

const firstOf = (names: typeof browsers, userAgent: string): string | undefined =>
  names.find(([sign]) => sign.test(userAgent))?.[1];

/** What a program that is no browser calls itself, without its version. */
const programOf = (userAgent: string): string => /^[A-Za-z][\w.-]{0,31}/.exec(userAgent)?.[0] ?? 'unknown';

/**
 * What a client signs in with, without versions, so that an update makes no new device: `device` tells it from others,
 * `label` is made of our own words alone, for a mail.
 */
export const deviceOf = ({ userAgent }: Pick<Client, 'userAgent'>) => {
  const browser = firstOf(browsers, userAgent);
  const system = firstOf(systems, userAgent);
  const on = system === undefined ? '' : ` on ${system}`;
  return { device: `${browser ?? programOf(userAgent)}${on}`, label: `${browser ?? 'An app'}${on}` };
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
export const noticeDevice = async (
  store: AccountStore,
  account: Pick<AccountRecord, '_id' | '_signIn'> & Addressee,
  client: Client,
): Promise<void> => {
  const { device, label } = deviceOf(client);
  const known = account._signIn?.devices;
  if (known?.includes(device)) return;
  await orLog('error', { message: 'An account could not learn the device of a sign-in' }, async () => {
    if (!(await learn(store, account, device)) || !known) return;
    const variables = { device: label, place: placeOf(client), time: timeNow() };
    await tellOwner(store, account, { template: 'new-device', variables });
  });
};
