import { describe, expect, test } from 'vitest';
import { isAllowedDomain, isSiteUrl } from '../../../shared/projects/allowed-origins.ts';

describe('the site URL', () => {
  test.each(['https://example.com', 'https://example.com/app/', 'http://localhost:3000', 'http://[::1]:8080/'])(
    '%s is accepted',
    (url) => {
      expect(isSiteUrl(url)).toBe(true);
    },
  );

  test.each([
    '',
    'example.com',
    '//example.com',
    '/app',
    'ftp://example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://user@example.com',
    'https://user:password@example.com',
    'https://',
    'https://exa mple.com',
    ' https://example.com',
    'https://example.com\n',
    'https:\\\\example.com',
    'https:example.com',
    'https:///example.com',
    '\u0001https://example.com',
    'https://example.com\u0000',
    'https://example.com/?a=b',
    'https://example.com/#',
    'https://example.com/?',
  ])('%j is rejected', (url) => {
    expect(isSiteUrl(url)).toBe(false);
  });
});

describe('an entry of the domain whitelist', () => {
  test.each([
    '*',
    'https://example.com',
    'https://Example.com',
    'http://localhost:3000',
    'example.com',
    'localhost:3000',
    '*.example.com',
    '127.0.0.1',
    '[::1]:3000',
    '*.localhost:5173',
    'bücher.example',
    'https://bücher.example',
    'https://Bücher.example:8443',
  ])('%s is accepted', (entry) => {
    expect(isAllowedDomain(entry)).toBe(true);
  });

  test.each([
    '',
    '**',
    '*.',
    '*example.com',
    '*.127.0.0.1',
    '*.[::1]',
    'a.*.com',
    '*.*.com',
    'https://*.example.com',
    'https://example.com/',
    'https://example.com/path',
    'https://user@example.com',
    'user@example.com',
    'example.com/path',
    'example.com?x',
    'exa mple.com',
    'ftp://example.com',
    'ftp://bücher.example',
    'https://bücher.example/',
    'https://user@bücher.example',
    'example.com\u0000',
    'https://bücher.example\u0000',
  ])('%j is rejected', (entry) => {
    expect(isAllowedDomain(entry)).toBe(false);
  });
});
