import { describe, expect, test } from 'vitest';
import { plainName } from '../../../shared/mail/content.ts';

describe('the name of a project in an email from the shared address', () => {
  test.each([
    ['Notes', 'Notes'],
    ['Summer school 2026', 'Summer school 2026'],
    ['Café Zoë 東京', 'Café Zoë 東京'],
    ['नमस्ते', 'नमस्ते'],
    ['Fern & Field', 'Fern & Field'],
    ['R&D', 'R&D'],
    ["O'Brien’s Jean-Luc", "O'Brien’s Jean-Luc"],
    ['Notes - Beta', 'Notes - Beta'],
  ])('%j is unchanged', (name, shown) => {
    expect(plainName(name)).toBe(shown);
  });

  test.each([
    ["Ada & Bob's app (beta), no. 2", "Ada & Bob's app beta no 2"],
    ['Shop 2.0', 'Shop 2 0'],
    ['St. Mary', 'St Mary'],
    ['URGENT: wallet suspended!', 'URGENT wallet suspended'],
    ['"quoted" [x](y) <b>', 'quoted x y b'],
    ["'quoted' && - & --only-- a&&b &amp;lt &", 'quoted only a b amp lt'],
    ['a\r\nBcc\u0000\u2028b\u202e', 'a Bcc b'],
  ])('%j has only words and joining signs', (name, shown) => {
    expect(plainName(name)).toBe(shown);
  });

  test.each([
    ['Restore at https://evil.example/x?y=1 now', 'Restore at now'],
    ['HTTPS://evil', ''],
    ['javascript://evil', ''],
    ['www.evil', ''],
    ['evil.example', ''],
    ['evil.example:8080/path.', ''],
    ['(evil.example)', ''],
    ['evil。example evil．example ｅｖｉｌ．example', ''],
    ['xn--80ak6aa92e.com пример.рф', ''],
    ['192.168.0.1 3232235521', ''],
    ['[2001:db8::1]', ''],
    ['write to me@evil.example or me@localhost', 'write to or'],
    ['call +1 (800) 555-0100 now', 'call now'],
    ["it's at evil-shop.example & www.evil-shop", "it's at"],
    ['mailto:me tel:911', ''],
  ])('%j has no address', (name, shown) => {
    expect(plainName(name)).toBe(shown);
  });

  test('is cut at 40 whole characters', () => {
    expect(plainName('𝒜'.repeat(100))).toBe('A'.repeat(40));
    expect(plainName(`${'x'.repeat(39)}-y`)).toBe('x'.repeat(39));
    expect(plainName('🙂://..')).toBe('');
    expect([...plainName('𐐀'.repeat(100))]).toHaveLength(40);
  });
});
