import { describe, expect, test } from 'vitest';
import { allowsOrigin, isAllowedDomain } from '../../../shared/projects/allowed-origins.ts';

describe('the domain whitelist', () => {
  test.each<[string[], string | undefined, boolean]>([
    [['*'], undefined, true],
    [['*'], 'https://anywhere.example', true],
    [['https://app.example.com'], 'https://app.example.com', true],
    [['https://app.example.com'], 'http://app.example.com', false],
    [['https://app.example.com'], 'https://app.example.com:8443', false],
    [['https://app.example.com'], 'https://app.example.com.evil.test', false],
    [['app.example.com'], 'http://app.example.com', true],
    [['App.Example.com'], 'https://app.example.com', true],
    [['app.example.com'], 'https://x.app.example.com', false],
    [['localhost:3000'], 'http://localhost:3000', true],
    [['localhost:3000'], 'http://localhost:4000', false],
    [['example.com:443'], 'https://example.com', true],
    [['example.com:443'], 'http://example.com', false],
    [['example.com:80'], 'http://example.com', true],
    [['example.com:80'], 'https://example.com', false],
    [['bücher.example'], 'https://xn--bcher-kva.example', true],
    [['https://bücher.example'], 'https://xn--bcher-kva.example', true],
    [['https://bücher.example'], 'http://xn--bcher-kva.example', false],
    [['[::1]:3000'], 'http://[::1]:3000', true],
    [['*.localhost:5173'], 'http://app.localhost:5173', true],
    [['*.localhost:5173'], 'http://app.localhost:5174', false],
    [['*.localhost:5173'], 'http://localhost:5173', false],
    [['*.example.com:443'], 'https://a.example.com', true],
    [['*.bücher.example'], 'https://www.xn--bcher-kva.example', true],
    [['*.Example.com'], 'https://a.example.com:8443', true],
    [['*.example.com'], 'https://a.b.example.com', true],
    [['*.example.com'], 'https://example.com', false],
    [['*.example.com'], 'https://evilexample.com', false],
    [['example.com'], undefined, false],
    [['example.com'], 'null', false],
    [['example.com'], 'not an origin', false],
    [[], 'https://example.com', false],
  ])('%j and the origin %s → %s', (allowed, origin, expected) => {
    expect(allowsOrigin(allowed, origin)).toBe(expected);
  });

  const hosts = [
    'example.com',
    'EXAMPLE.com',
    'localhost',
    'bücher.example',
    'xn--bcher-kva.example',
    '127.0.0.1',
    '[::1]',
  ];
  const entries = hosts
    .flatMap((host) => ['', ':80', ':443', ':0443', ':5173'].map((port) => `${host}${port}`))
    .flatMap((host) => [host, `*.${host}`, `http://${host}`, `https://${host}`])
    .filter(isAllowedDomain);

  /** The origin of a page there, as browsers send it. */
  const origins = entries.flatMap((entry) => {
    const [scheme, rest] = entry.includes('://') ? entry.split('://') : [undefined, entry];
    const host = (rest ?? '').replace('*.', 'www.');
    return (scheme ? [scheme] : ['http', 'https']).map((protocol) => new URL(`${protocol}://${host}`).origin);
  });

  test.each(entries)('the accepted entry %s allows some origin', (entry) => {
    expect(origins.filter((origin) => allowsOrigin([entry], origin))).not.toEqual([]);
  });
});
