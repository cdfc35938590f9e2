import { expect, test } from 'vitest';
import { deviceOf } from '../../../shared/accounts/devices.ts';

const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const apple = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const android = 'Mozilla/5.0 (Linux; Android 15; K)';
const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0';

test.each([
  [`${windows} ${chrome} Safari/537.36`, 'Chrome on Windows'],
  [`${windows} ${chrome} Safari/537.36 Edg/140.0.0.0`, 'Edge on Windows'],
  [`${windows} ${chrome} Safari/537.36 OPR/124.0.0.0`, 'Opera on Windows'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`, 'Chrome on ChromeOS'],
  [`${apple} ${chrome} Safari/537.36`, 'Chrome on macOS'],
  [`${apple} AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140 Version/18.0 Safari/605.1.15`, 'Chrome on iOS'],
  [`${apple} AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/143.0 Safari/605.1.15`, 'Firefox on iOS'],
  [`${phone} Version/18.0 Mobile/15E148 Safari/604.1`, 'Safari on iOS'],
  [`${phone} CriOS/140.0.0.0 Mobile/15E148 Safari/604.1`, 'Chrome on iOS'],
  [`${phone} FxiOS/143.0 Mobile/15E148 Safari/605.1.15`, 'Firefox on iOS'],
  [`${android} ${chrome} Mobile Safari/537.36`, 'Chrome on Android'],
  [
    `${android} AppleWebKit/537.36 SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
])('a browser is named with its system: %s', (userAgent, device) => {
  expect(deviceOf({ userAgent })).toEqual({ device, label: device });
});

test('an updated browser is the same device', () => {
  const of = (version: number) => deviceOf({ userAgent: `${windows} AppleWebKit/537.36 Chrome/${version}.0.0.0` });
  expect(of(140)).toEqual(of(141));
});

test.each([
  ['okhttp/4.12.0', 'okhttp', 'An app'],
  ['Notes/12 CFNetwork/1568 Darwin/24.0.0', 'Notes on macOS', 'An app'],
  ['Win at https://evil.example', 'Win', 'An app'],
  ['<b>{{code}}</b>', 'unknown', 'An app'],
  ['', 'unknown', 'An app'],
])('an email contains no name that a program chose: %s', (userAgent, device, label) => {
  expect(deviceOf({ userAgent })).toEqual({ device, label });
});

test('the name of a program is cut to 32 characters', () => {
  expect(deviceOf({ userAgent: 'a'.repeat(9000) }).device).toHaveLength(32);
});

test('an email names no system when the client may have either: Safari on a Mac or an iPad', () => {
  const userAgent = `${apple} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15`;
  expect(deviceOf({ userAgent })).toEqual({ device: 'Safari on macOS', label: 'Safari on macOS or iPadOS' });
});

test.each([
  ['Foo-2.0.1', 'Foo-2.0.2'],
  ['Foo-2.0.1 (Linux)', 'Foo-10.0.0-beta.1 (Linux)'],
  ['Foo2.0.1', 'Foo2.1'],
  ['foo_v3', 'foo_v4'],
  ['com.example.app.1.2/7', 'com.example.app.1.3/8'],
  ['Foo-Bar-9 CFNetwork/1568 Darwin/24.0.0', 'Foo-Bar-10 CFNetwork/1570 Darwin/25.1.0'],
  [`${'a'.repeat(28)}-2.0.1`, `${'a'.repeat(28)}-10.0.1`],
])('an updated program is the same device, wherever its version is: %s', (before, after) => {
  const { device } = deviceOf({ userAgent: before });
  expect(deviceOf({ userAgent: after }).device).toBe(device);
  expect(device).not.toMatch(/\d|unknown/);
});

test.each([
  ['k6/0.49.0', 'k6'],
  ['h2client/1', 'h2client'],
  ['Foo.Bar/2', 'Foo.Bar'],
])('a digit that is no version stays in the name of a program: %s', (userAgent, device) => {
  expect(deviceOf({ userAgent }).device).toBe(device);
});
