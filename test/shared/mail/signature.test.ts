import { describe, expect, test } from 'vitest';
import { isSigned, parseSecrets, type SignedDelivery, sign } from '../../../shared/mail/event-signature.ts';

const now = 1_800_000_000;
const secretText = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const otherText = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
const [secret] = parseSecrets(secretText) as [Buffer];
const [other] = parseSecrets(otherText) as [Buffer];
const body = Buffer.from('{"type":"email.sent","data":{"subject":"Grüße\u2028"}}');

const good: SignedDelivery = {
  id: 'msg_1',
  timestamp: String(now),
  signature: sign(secret, 'msg_1', String(now), body),
  body,
};

const signedAt = (timestamp: string): SignedDelivery => ({
  ...good,
  timestamp,
  signature: sign(secret, 'msg_1', timestamp, body),
});

const changed = (index: number): Buffer => {
  const copy = Buffer.from(body);
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
};

describe('A delivery is accepted', () => {
  test.each<readonly [string, SignedDelivery, readonly Buffer[]]>([
    ['as it was signed', good, [secret]],
    ['with the second of two secrets', good, [other, secret]],
    [
      'with a signature of another version before its own',
      { ...good, signature: `v1a,abc ${good.signature}` },
      [secret],
    ],
    [
      'with signatures of two secrets',
      { ...good, signature: `${sign(other, 'msg_1', String(now), body)} ${good.signature}` },
      [secret],
    ],
    ['5 minutes old', signedAt(String(now - 300)), [secret]],
    ['5 minutes ahead', signedAt(String(now + 300)), [secret]],
    ['with bytes that are no text', signed(Buffer.from([0xff, 0x00, 0xfe])), [secret]],
    ['without a body', signed(Buffer.alloc(0)), [secret]],
  ])('%s', (_, delivery, secrets) => {
    expect(isSigned(delivery, secrets, now)).toBe(true);
  });
});

function signed(bytes: Buffer): SignedDelivery {
  return { ...good, body: bytes, signature: sign(secret, 'msg_1', String(now), bytes) };
}

describe('A delivery is rejected', () => {
  test.each<readonly [string, SignedDelivery, readonly Buffer[]]>([
    ['with its first byte changed', { ...good, body: changed(0) }, [secret]],
    ['with its last byte changed', { ...good, body: changed(body.length - 1) }, [secret]],
    ['with a byte more', { ...good, body: Buffer.concat([body, Buffer.from(' ')]) }, [secret]],
    ['of another secret', good, [other]],
    ['without secrets', good, []],
    ['under another id', { ...good, id: 'msg_2' }, [secret]],
    ['under another time', { ...good, timestamp: String(now + 1) }, [secret]],
    ['older than 5 minutes', signedAt(String(now - 301)), [secret]],
    ['more than 5 minutes ahead', signedAt(String(now + 301)), [secret]],
    ['with a time in milliseconds', signedAt(String(now * 1000)), [secret]],
    ['with a time that is no whole number', signedAt(`${now}.0`), [secret]],
    ['with a negative time', signedAt(`-${now}`), [secret]],
    ['without an id', { ...good, id: undefined }, [secret]],
    ['with an empty id', { ...good, id: '' }, [secret]],
    ['with an id of 300 characters', { ...good, id: 'm'.repeat(300) }, [secret]],
    ['without a time', { ...good, timestamp: undefined }, [secret]],
    ['without a signature', { ...good, signature: undefined }, [secret]],
    ['with an empty signature', { ...good, signature: '' }, [secret]],
    [
      'with a signature of another version only',
      { ...good, signature: good.signature?.replace('v1,', 'v2,') },
      [secret],
    ],
    ['with a signature that is cut', { ...good, signature: good.signature?.slice(0, -2) }, [secret]],
    ['with a signature that is no base64', { ...good, signature: `v1,${'!'.repeat(44)}` }, [secret]],
    ['with the dot between id and time moved', { ...good, id: `msg_1.${now}`, timestamp: '' }, [secret]],
  ])('%s', (_, delivery, secrets) => {
    expect(isSigned(delivery, secrets, now)).toBe(false);
  });
});

describe('A setting contains', () => {
  test.each<readonly [string, string, number]>([
    ['one secret', secretText, 1],
    ['two, separated by a comma', `${secretText},${otherText}`, 2],
    ['two, separated by spaces and a comma', ` ${secretText} , ${otherText} `, 2],
    ['one without its padding', 'whsec_AAA', 1],
    ['the good one of two', `${secretText} whsec_!`, 1],
    ['none where it is empty', '', 0],
    ['none where it is blank', ' , ', 0],
    ['none where the prefix is missing', Buffer.alloc(24, 7).toString('base64'), 0],
    ['none where nothing follows the prefix', 'whsec_', 0],
    ['none where it is no base64', 'whsec_not base64!', 0],
    ['none where it is base64 of another alphabet', 'whsec_-_-_', 0],
  ])('%s', (_, setting, count) => {
    expect(parseSecrets(setting)).toHaveLength(count);
  });
});
