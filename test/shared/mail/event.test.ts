import { describe, expect, test } from 'vitest';
import { parseEvent } from '../../../shared/mail/events.ts';

const sentAt = new Date('2030-01-01T00:00:00.000Z');
const at = '2029-12-31T23:59:59.123Z';
const logId = 'a'.repeat(24);

const read = (event: unknown) => parseEvent('msg_1', Buffer.from(JSON.stringify(event)), sentAt);
const sent = (data: object, more: object = {}) => read({ type: 'email.sent', created_at: at, data, ...more });

describe('The status after', () => {
  test.each([
    ['email.sent', 'sent'],
    ['email.delivered', 'delivered'],
    ['email.bounced', 'bounced'],
    ['email.complained', 'complained'],
    ['email.delivery_delayed', 'queued'],
  ])('%s is %s', (type, status) => {
    expect(read({ type, created_at: at, data: { email_id: 'e1' } })).toMatchObject({ status, at: new Date(at) });
  });
});

describe('An event without effect', () => {
  test.each<readonly [string, unknown]>([
    ['email.opened', { type: 'email.opened', created_at: at, data: { email_id: 'e1' } }],
    ['email.failed', { type: 'email.failed', created_at: at, data: { email_id: 'e1' } }],
    ['contact.created', { type: 'contact.created', created_at: at, data: { id: 'c1' } }],
    ['a name that every object has', { type: 'constructor', created_at: at, data: { email_id: 'e1' } }],
    ['an event without a mail', { type: 'email.sent', created_at: at, data: {} }],
    ['an event with an empty mail', { type: 'email.sent', created_at: at, data: { email_id: '' } }],
    ['an event whose mail is an object', { type: 'email.sent', created_at: at, data: { email_id: { $ne: null } } }],
    ['an event without data', { type: 'email.sent', created_at: at }],
    ['an array', []],
    ['a number', 1],
    ['null', null],
  ])('%s', (_, event) => {
    expect(read(event)).toBeUndefined();
  });

  test.each([
    ['no JSON', '{'],
    ['nothing', ''],
  ])('%s', (_, text) => {
    expect(parseEvent('msg_1', Buffer.from(text), sentAt)).toBeUndefined();
  });
});

describe('An event', () => {
  test.each<readonly [string, unknown]>([
    ['without a time', undefined],
    ['with a time that is no date', 'yesterday'],
    ['with a time that is no text', 12],
  ])('with %s has the time of its delivery', (_, created_at) => {
    expect(read({ type: 'email.sent', created_at, data: { email_id: 'e1' } })?.at).toEqual(sentAt);
  });

  test.each<readonly [string, unknown, string | undefined]>([
    ['by name', { basalt_mail: logId, other: 'x' }, logId],
    [
      'in a list',
      [
        { name: 'other', value: 'x' },
        { name: 'basalt_mail', value: logId },
      ],
      logId,
    ],
    ['that is no id', { basalt_mail: '../x' }, undefined],
    ['that is no text', { basalt_mail: { $ne: 1 } }, undefined],
    ['of another name', { basalt: logId }, undefined],
    ['in a form nobody knows', 'basalt_mail', undefined],
  ])('finds a tag %s', (_, tags, expected) => {
    expect(sent({ email_id: 'e1', tags })).toMatchObject({ providerEmailId: 'e1', logId: expected });
  });

  test.each<readonly [string, unknown, readonly string[]]>([
    ['in a list', ['a@b.cd', 'e@f.gh'], ['a@b.cd', 'e@f.gh']],
    ['alone', 'a@b.cd', ['a@b.cd']],
    ['in a form nobody knows', { a: 1 }, []],
    ['left out', undefined, []],
  ])('reads addresses %s', (_, to, expected) => {
    expect(sent({ email_id: 'e1', to })?.to).toEqual(expected);
  });

  test.each<readonly [string, unknown, boolean]>([
    ['Transient', { type: 'Transient' }, true],
    ['transient', { type: 'transient' }, true],
    ['Permanent', { type: 'Permanent' }, false],
    ['Undetermined', { type: 'Undetermined' }, false],
    ['none', {}, false],
    ['no object', 'Transient', false],
  ])('recognises a bounce of type %s', (_, bounce, isTransient) => {
    expect(read({ type: 'email.bounced', created_at: at, data: { email_id: 'e1', bounce } })).toMatchObject({
      isTransient,
    });
  });
});
