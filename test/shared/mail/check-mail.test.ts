import { describe, expect, test } from 'vitest';
import { checkBatch, checkMail } from '../../../shared/mail/check-mail.ts';
import { refusalOf } from '../../support/data/refusal.ts';

const direct = { to: 'a@example.com', subject: 'Hello', text: 'Hi' };
const content = { subject: 'Hello', html: null, text: 'Hi' };
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@example.com`);

const notText: readonly unknown[] = [{ $ne: null }, { $regex: '.' }, {}, [], ['x'], 5, 0, true, false];

describe('an email with its own content', () => {
  test.each([
    ['one address', {}, { to: ['a@example.com'], replyTo: [], content }],
    ['several', { to: ['a@example.com', 'Bo <b@example.com>'] }, { to: ['a@example.com', 'Bo <b@example.com>'] }],
    ['the same one twice', { to: ['a@example.com', ' a@example.com'] }, { to: ['a@example.com'] }],
    [
      'the same one under other names',
      { to: ['Ann <a@example.com>', 'A@Example.com', 'Bo <a@example.com>', 'b@example.com'] },
      { to: ['Ann <a@example.com>', 'b@example.com'] },
    ],
    ['50 addresses', { to: addresses(50) }, { to: addresses(50) }],
    ['an address for answers', { replyTo: 'b@example.com' }, { replyTo: ['b@example.com'] }],
    ['null for what is left out', { replyTo: null, html: null, templateId: null, variables: null }, { content }],
    ['html and text', { html: '<p>Hi</p>' }, { content: { ...content, html: '<p>Hi</p>' } }],
    ['an empty html beside a text', { html: '' }, { content }],
    ['placeholders without variables', { text: '{{a}} {{{b}}}' }, { content: { ...content, text: '{{a}} {{{b}}}' } }],
    ['placeholders and null', { text: '{{a}}', variables: null }, { content: { ...content, text: '{{a}}' } }],
    [
      'variables, filled in everywhere, escaped in html',
      {
        subject: '{{who.name}}, {{siteName}}',
        html: '<p>{{who.name}} {{{who.name}}} {{no}}</p>',
        text: '{{who.name}} {{no}}',
        variables: { who: { name: 'A & <b>\r\nB' } },
      },
      {
        content: {
          subject: 'A & <b>  B, Notes',
          html: '<p>A &amp; &lt;b&gt;\r\nB A & <b>\r\nB </p>',
          text: 'A & <b>\r\nB ',
        },
      },
    ],
    [
      'a value that looks like a placeholder',
      { text: '{{a}}', variables: { a: '{{b}}', b: 1 } },
      { content: { ...content, text: '{{b}}' } },
    ],
    ['null in a field that nobody knows', { cc: null }, { content }],
  ])('%s', (_title, given, expected) => {
    expect(checkMail({ ...direct, ...given }, 'Notes')).toMatchObject(expected);
  });
});

describe('an email from a template', () => {
  test.each([
    [{ templateId: 'f'.repeat(24) }, { template: { templateId: 'f'.repeat(24) }, variables: {} }],
    [{ templateName: 'welcome' }, { template: { templateName: 'welcome' }, variables: {} }],
    [{ templateName: 'welcome', variables: { a: { b: 1 } } }, { variables: { a: { b: 1 } } }],
  ])('%j', (given, expected) => {
    expect(checkMail({ to: 'a@example.com', ...given }, 'Notes')).toMatchObject(expected);
  });
});

describe('INVALID_MAIL', () => {
  test.each<[string, object, string, string]>([
    ['no recipients', { to: [] }, 'to', 'Recipient list cannot be empty'],
    ['an empty recipient', { to: '' }, 'to', 'Recipient list cannot be empty'],
    ['a missing recipient', { to: undefined }, 'to', 'Recipient list cannot be empty'],
    ['null for the recipient', { to: null }, 'to', 'Recipient list cannot be empty'],
    ['nobody to answer', { replyTo: [] }, 'replyTo', 'Reply-to list cannot be empty'],
    ['an empty address for answers', { replyTo: '' }, 'replyTo', 'Reply-to list cannot be empty'],
    ['no subject', { subject: undefined }, 'subject', 'Subject is required'],
    ['an empty subject', { subject: '' }, 'subject', 'Subject is required'],
    ['a blank subject', { subject: ' \t' }, 'subject', 'Subject is required'],
    [
      'a subject of nothing but what is missing',
      { subject: '{{no}}', variables: {} },
      'subject',
      'Subject is required',
    ],
    ['no content', { text: undefined }, 'html', 'Provide at least one of html or text content.'],
    ['blank content', { text: ' ', html: '' }, 'html', 'Provide at least one of html or text content.'],
    [
      'content of nothing but what is missing',
      { text: '{{no}}', variables: {} },
      'html',
      'Provide at least one of html or text content.',
    ],
    ['51 recipients', { to: addresses(51) }, 'to', 'to must have at most 50 addresses'],
    ['51 addresses for answers', { replyTo: addresses(51) }, 'replyTo', 'replyTo must have at most 50 addresses'],
    ['an address that is none', { to: 'nobody' }, 'to', 'to must contain valid email addresses: "nobody" is not one'],
    [
      'a domain that is not ASCII',
      { to: 'ada@bücher.example' },
      'to',
      'to must contain valid email addresses: "ada@bücher.example" is not one. Addresses are in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    ],
    ['one of several', { to: ['a@example.com', 'x'] }, 'to', 'to must contain valid email addresses: "x" is not one'],
    [
      'two in one text',
      { to: 'a@example.com,b@example.com' },
      'to',
      'to must contain valid email addresses: "a@example.com,b@example.com" is not one',
    ],
    [
      'an endless address',
      { to: `${'a'.repeat(100)}@example` },
      'to',
      `to must contain valid email addresses: "${'a'.repeat(64)}…" is not one`,
    ],
    [
      'a header in an address',
      { to: 'a@example.com\r\nBcc: b@example.org' },
      'to',
      'to must contain valid email addresses: "a@example.com\\r\\nBcc: b@example.org" is not one',
    ],
    [
      'a header in a name',
      { to: 'A\r\nBcc: b@c.org <a@example.com>' },
      'to',
      'to must contain valid email addresses: "A\\r\\nBcc: b@c.org <a@example.com>" is not one',
    ],
    [
      'a line end after a name',
      { to: 'A\r\n\r\n<a@example.com>' },
      'to',
      'to must contain valid email addresses: "A\\r\\n\\r\\n<a@example.com>" is not one',
    ],
    [
      'a header in the answer',
      { replyTo: 'a@b.org\nX: 1' },
      'replyTo',
      'replyTo must contain valid email addresses: "a@b.org\\nX: 1" is not one',
    ],
    [
      'a header in the subject',
      { subject: 'Hello\r\nBcc: b@example.org' },
      'subject',
      'subject must not contain line breaks or other control characters',
    ],
    [
      'NUL in the subject',
      { subject: 'a\0b' },
      'subject',
      'subject must not contain line breaks or other control characters',
    ],
    [
      'U+2028 in the subject',
      { subject: 'a\u2028b' },
      'subject',
      'subject must not contain line breaks or other control characters',
    ],
    ['an endless subject', { subject: 'a'.repeat(999) }, 'subject', 'subject must have at most 998 characters'],
    ['a template and words', { templateName: 'a' }, 'subject', 'subject cannot be given together with a template'],
    [
      'two templates',
      { templateName: 'a', templateId: 'b' },
      'templateName',
      'Give templateId or templateName, not both',
    ],
    ...['cc', 'attachments', 'from', 'constructor'].map((field): [string, object, string, string] => [
      `the field ${field}, which would not be sent`,
      { [field]: ['c@example.com'] },
      field,
      `${field} is not a known field: a mail has to, replyTo, subject, html, text, templateId, templateName, variables`,
    ]),
    ['variables that are no object', { variables: [] }, 'variables', 'variables must be an Object'],
    ['variables that are text', { variables: 'a' }, 'variables', 'variables must be an Object'],
  ])('for %s', (_title, given, field, message) => {
    expect(refusalOf(() => checkMail({ ...direct, ...given }, 'Notes'))).toEqual({
      code: 'INVALID_MAIL',
      message,
      errors: [{ field, message }],
    });
  });

  test.each(['to', 'replyTo', 'subject', 'html', 'text', 'templateId', 'templateName'])(
    'when %s is no text',
    (field) => {
      for (const value of notText) {
        expect(refusalOf(() => checkMail({ ...direct, [field]: value }, 'Notes')).code, JSON.stringify(value)).toBe(
          'INVALID_MAIL',
        );
      }
    },
  );

  test('for 10 000 recipients, before any of them is checked', () => {
    const looked: PropertyKey[] = [];
    const to = new Proxy(addresses(10_000), {
      get: (target, key, receiver) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) looked.push(key);
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    expect(refusalOf(() => checkMail({ ...direct, to }, 'Notes')).code).toBe('INVALID_MAIL');
    expect(looked).toEqual([]);
  });
});

describe('a batch', () => {
  test('of 100 emails is accepted', () => {
    expect(checkBatch(Array.from({ length: 100 }, () => direct))).toHaveLength(100);
  });

  test.each<[string, readonly object[], string]>([
    ['without items', [], 'Batch cannot be empty'],
    ['of 101', Array.from({ length: 101 }, () => direct), 'Max 100 emails per batch'],
  ])('INVALID_MAIL %s', (_title, items, message) => {
    expect(refusalOf(() => checkBatch(items as Record<string, unknown>[]))).toMatchObject({
      code: 'INVALID_MAIL',
      message,
    });
  });

  test.each<[string, object, string, string]>([
    ['recipients', { to: [] }, 'to', 'Recipient list cannot be empty'],
    ['somebody to answer', { replyTo: [] }, 'replyTo', 'Reply-to list cannot be empty'],
    ['a subject', { subject: ' ' }, 'subject', 'Subject is required'],
    ['content', { text: '' }, 'html', 'Provide html or text'],
    ['words of its own, by id', { templateId: 'a' }, 'templateId', 'Templates are not supported in a batch'],
    ['words of its own, by name', { templateName: 'a' }, 'templateName', 'Templates are not supported in a batch'],
    ['words without variables', { variables: {} }, 'variables', 'Templates are not supported in a batch'],
    [
      'fields that nobody knows',
      { bcc: 'c@example.com' },
      'bcc',
      'bcc is not a known field: a mail has to, replyTo, subject, html, text',
    ],
  ])('INVALID_MAIL for an item without %s', (_title, given, field, message) => {
    expect(refusalOf(() => checkBatch([direct, { ...direct, ...given }, direct]))).toEqual({
      code: 'INVALID_MAIL',
      message,
      errors: [{ index: 1, field, message }],
    });
  });

  test('INVALID_MAIL names every invalid item', () => {
    const { errors } = refusalOf(() => checkBatch([{ ...direct, to: [] }, direct, { ...direct, subject: '' }]));
    expect(errors?.map(({ index, field }) => [index, field])).toEqual([
      [0, 'to'],
      [2, 'subject'],
    ]);
  });
});
