import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  newTemplateEntries,
  requireUsable,
  templateChangesEntries,
} from '../../../../shared/mail/templates/templates.ts';
import { refusalOf } from '../../../support/data/refusal.ts';

const content = { subject: 'x', html: null, text: null, keyKey: null };

describe('a template', () => {
  test.each([
    ['html', { html: '<p>x</p>' }],
    ['text', { text: 'x' }],
    [
      'verification with a link in html and a code in text',
      { keyKey: 'verification', html: '{{link}}', text: '{{ code }}' },
    ],
    ['password-reset with three braces', { keyKey: 'password-reset', text: '{{{code}}}' }],
    ['any other key without link or code', { keyKey: 'welcome', text: 'x' }],
  ])('may have %s', (_what, part) => {
    expect(requireUsable({ ...content, ...part })).toBeUndefined();
  });

  test.each([
    ['neither html nor text', {}, 'Provide at least one of html or text content.'],
    [
      'verification without link and code',
      { keyKey: 'verification', text: 'code link' },
      'must show {{link}} or {{code}}',
    ],
    [
      'password-reset with a code in html only',
      { keyKey: 'password-reset', html: '{{code}}', text: 'x' },
      'in its text',
    ],
    ['verification with a path that only begins so', { keyKey: 'verification', text: '{{code.x}}' }, '{{code}}'],
  ])('400 INVALID_MAIL: %s', (_what, part, message) => {
    expect(refusalOf(() => requireUsable({ ...content, ...part }))).toMatchObject({
      code: 'INVALID_MAIL',
      message: expect.stringContaining(message),
    });
  });
});

const isGood = (value: unknown) => v.safeParse(v.strictObject(newTemplateEntries), value).success;
const good = { name: 'Order shipped', subject: 'Your order' };

describe('the body of a new template', () => {
  test.each<[string, unknown]>([
    ['name and subject', good],
    ['nulls', { ...good, key: null, html: null, text: null }],
    ['a key', { ...good, key: 'order.shipped_v-2' }],
    ['256 KiB of html', { ...good, html: 'x'.repeat(256 * 1024) }],
  ])('may have %s', (_what, value) => {
    expect(isGood(value)).toBe(true);
  });

  test.each<[string, unknown]>([
    ['no name', { subject: 'x' }],
    ['no subject', { name: 'x' }],
    ['a blank name', { ...good, name: '  ' }],
    ['a name of 101 characters', { ...good, name: 'x'.repeat(101) }],
    ['a line break in the name', { ...good, name: 'a\nb' }],
    ['a line break in the subject', { ...good, subject: 'a\r\nBcc: b@example.com' }],
    ['a line separator in the subject', { ...good, subject: 'a\u2028b' }],
    ['a NUL in the subject', { ...good, subject: 'a\0b' }],
    ['a blank subject', { ...good, subject: ' ' }],
    ['a subject of 501 characters', { ...good, subject: 'x'.repeat(501) }],
    ['html over 256 KiB', { ...good, html: 'x'.repeat(256 * 1024 + 1) }],
    ['an operator as name', { ...good, name: { $ne: null } }],
    ['an operator as key', { ...good, key: { $gt: '' } }],
    ['a list as html', { ...good, html: ['x'] }],
    ['a key with a space', { ...good, key: 'a b' }],
    ['an empty key', { ...good, key: '' }],
    ['a key of 65 characters', { ...good, key: 'x'.repeat(65) }],
    ['an unknown field', { ...good, projectId: 'x' }],
  ])('may not have %s', (_what, value) => {
    expect(isGood(value)).toBe(false);
  });

  test('counts blank html and text as missing', () => {
    expect(v.parse(v.strictObject(templateChangesEntries), { html: ' \n', text: '' })).toEqual({
      html: null,
      text: null,
    });
  });
});
