import { describe, expect, test } from 'vitest';
import { renderMail } from '../../../shared/mail/render-mail.ts';

const link = 'https://app.example.com/verify-email?token=abc_DEF-123&x=1';
const code = 'ABCD-2345';
const variables = { link, code, minutes: '10' };

describe.each(['verification', 'password-reset'] as const)('the mail %s', (template) => {
  test('shows site, link, code and minutes in both forms', () => {
    const { subject, html, text } = renderMail(template, 'Notes & Co', variables);
    expect(subject).toContain('Notes & Co');
    expect(text).toContain('Notes & Co');
    expect(text).toContain(link);
    expect(html).toContain('Notes &amp; Co');
    expect(html).toContain(`href="${link.replace('&', '&amp;')}"`);
    for (const body of [html, text]) {
      expect(body).toContain(code);
      expect(body).toContain('10 minutes');
    }
  });

  test('shows the code alone where there is no link', () => {
    const { html, text } = renderMail(template, 'Notes', { ...variables, link: '' });
    for (const body of [html, text]) {
      expect(body).toContain(code);
      expect(body).not.toMatch(/href|http|or enter/i);
    }
  });

  test('leaves no placeholder', () => {
    for (const used of [variables, { ...variables, link: '' }]) {
      const { subject, html, text } = renderMail(template, 'Notes', used);
      expect(`${subject}${html}${text}`).not.toMatch(/[{}]{2}/);
    }
  });

  test('lets nothing through that the name of a site could bring along', () => {
    const { subject, html } = renderMail(template, '<script>x</script>\r\nBcc: a@example.com', variables);
    expect(html).not.toContain('<script');
    expect(subject).not.toMatch(/[\r\n]/);
  });
});
