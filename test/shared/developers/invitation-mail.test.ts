import { describe, expect, test } from 'vitest';
import { mailedName } from '../../../shared/developers/members/invitation-mail.ts';

describe('the name of a project in the mail of an invitation', () => {
  test.each([
    ['Notes', 'Notes'],
    ["Ada & Bob's app (beta), no. 2", "Ada & Bob's app (beta), no. 2"],
    ['Shop 2.0', 'Shop 2.0'],
    ['Café Zoë 東京', 'Café Zoë 東京'],
  ])('%j stays', (name, shown) => {
    expect(mailedName(name)).toBe(shown);
  });

  test.each([
    ['Refund due, see https://evil.example/x', 'Refund due, see https evil example x'],
    ['www.evil.example', 'evil example'],
    ['WWW.Evil.example:8080', 'Evil example 8080'],
    ['evil。example evil．example', 'evil example evil example'],
    ['http://1.2.3.4/a', 'http 1.2 3 4 a'],
    ['mail me@evil.example', 'mail me evil example'],
    ['a\r\nBcc: b@c.org <b>', 'a Bcc b c org b'],
    ['"quoted" [x](y)', 'quoted x (y)'],
  ])('%j leads nowhere', (name, shown) => {
    expect(mailedName(name)).toBe(shown);
  });

  test('is cut at 40 characters, between whole ones', () => {
    expect(mailedName('𝒜'.repeat(100))).toBe('𝒜'.repeat(40));
    expect(mailedName('://..🙂')).toBe('..');
  });
});
