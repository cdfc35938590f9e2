import { describe, expect, test } from 'vitest';
import { withUnsubscribeLink } from '../../../shared/mail/audiences.ts';

const link = '<p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">Unsubscribe</a></p>';

describe('The unsubscribe link', () => {
  test.each([
    ['comes at the end of a fragment', '<p>Hi</p>', `<p>Hi</p>${link}`],
    ['comes before the end of the body', '<html><body>Hi</BODY></html>', `<html><body>Hi${link}</BODY></html>`],
    ['comes between no letters of a tag', '<body>İzmir</body></html>', `<body>İzmir${link}</body></html>`],
    ['comes before the last end of a body', '<b></body></body>', `<b></body>${link}</body>`],
    ['comes once', '<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">out</a>', '<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">out</a>'],
    ['may have spaces', '{{{ RESEND_UNSUBSCRIBE_URL }}}', '{{{ RESEND_UNSUBSCRIBE_URL }}}'],
  ])('%s', (_, html, expected) => {
    expect(withUnsubscribeLink(html)).toBe(expected);
  });
});
