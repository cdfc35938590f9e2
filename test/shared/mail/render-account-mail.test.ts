import { describe, expect, test } from 'vitest';
import { accountMailFrom } from '../../../shared/mail/content.ts';
import type { MailContent } from '../../../shared/mail/templates/render.ts';

const variables = { link: 'https://app.example.com/verify-email?token=t', code: 'ABCD-2345', minutes: '10' };
const verification = { template: 'verification', siteName: 'Notes' } as const;
const builtIn = accountMailFrom(null, verification, variables);
const own = (content: Partial<MailContent>): MailContent => ({ subject: 'Own', html: null, text: null, ...content });

test('a project without its own template sends the built-in one with the site’s name', () => {
  expect(builtIn.subject).toBe('Confirm your email address for Notes');
});

describe('a project’s own template is used', () => {
  test.each<[string, MailContent, typeof variables, MailContent]>([
    [
      'with link, code, minutes and siteName',
      own({ subject: '{{siteName}}', text: '{{link}} {{code}} {{minutes}}', html: '<a href="{{link}}">{{code}}</a>' }),
      variables,
      {
        subject: 'Notes',
        text: `${variables.link} ABCD-2345 10`,
        html: '<a href="https://app.example.com/verify-email?token=t">ABCD-2345</a>',
      },
    ],
    ['with the link alone', own({ text: '{{link}}' }), variables, own({ text: variables.link })],
    [
      'with the code where there is no link',
      own({ text: '{{code}}' }),
      { ...variables, link: '' },
      own({ text: 'ABCD-2345' }),
    ],
  ])('%s', (_what, template, given, mail) => {
    expect(accountMailFrom(template, verification, given)).toEqual(mail);
  });
});

describe('the built-in template is used', () => {
  test.each<[string, MailContent, typeof variables]>([
    ['where the own one shows neither link nor code', own({ text: 'Hello' }), variables],
    ['where one of its two forms does not', own({ text: '{{code}}', html: '<p>Hello</p>' }), variables],
    ['where it shows the link alone and there is none', own({ text: '{{link}}' }), { ...variables, link: '' }],
    ['where its subject comes out empty', own({ subject: '{{nothing}}', text: '{{code}}' }), variables],
    ['where it would become too long', own({ text: '{{link}}'.repeat(30_000) }), variables],
  ])('%s', (_what, template, given) => {
    expect(accountMailFrom(template, verification, given)).toEqual(accountMailFrom(null, verification, given));
  });
});
