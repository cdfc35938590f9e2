import { expect, test } from 'vitest';
import { StartProblem } from '../../infra/local/problem.ts';
import { parseSettings } from '../../infra/local/settings.ts';

test.each([
  [{ PORT: 'http' }, 'PORT must be a whole number'],
  [{ PORT: '70000' }, 'PORT must be a whole number from 0 to 65533'],
  [{ RATE_LIMIT: '-1' }, 'RATE_LIMIT must be a whole number'],
  [{ AUTH_RATE_LIMIT: 'many' }, 'AUTH_RATE_LIMIT must be a whole number'],
  [{ PASSWORD_COST: '99' }, 'PASSWORD_COST must be a whole number from 4 to 15'],
  [{ LOG: 'loud' }, 'LOG must be info, debug or silent'],
  [{ REALTIME: 'maybe' }, 'REALTIME must be on or off'],
  [{ AI_BASE_URL: 'my model' }, 'AI_BASE_URL must be an address'],
  [{ MAIL_PER_SECOND: 'two' }, 'MAIL_PER_SECOND must be a whole number'],
  [{ MAIL_RETRY_SECONDS: '1.5' }, 'MAIL_RETRY_SECONDS must be a whole number'],
  [{ USAGE_SECONDS: '9999999' }, 'USAGE_SECONDS must be a whole number from 0 to 86400'],
  [{ DASHBOARD_ORIGINS: 'localhost:3000' }, "is not a page's origin"],
  [{ DASHBOARD_ORIGINS: 'http://localhost:3000/' }, "is not a page's origin"],
  [{ DASHBOARD_URL: 'localhost' }, 'DASHBOARD_URL must be an address'],
  [{ MAIL_WEBHOOK_SECRET: 'secret' }, 'MAIL_WEBHOOK_SECRET must be whsec_ followed by base64'],
  [{ CONTROL_DATABASE: 'a/b' }, 'CONTROL_DATABASE must be letters, digits'],
  [{ TABLE_NAME: 'a b' }, 'TABLE_NAME must be 3 to 255 letters'],
  [{ AI_TIMEOUT_SECONDS: '60' }, 'AI_TIMEOUT_SECONDS must be a whole number from 1 to 25'],
])('settings %j are rejected with the name of the setting', (env, message) => {
  expect(() => parseSettings(env)).toThrow(StartProblem);
  expect(() => parseSettings(env)).toThrow(message);
});

test.each([
  { DASHBOARD_ORIGINS: 'http://localhost:3000, https://app.example.com,' },
  { DASHBOARD_URL: 'http://localhost:3000/dashboard' },
  { MAIL_WEBHOOK_SECRET: '' },
  { MAIL_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw,whsec_c2VjcmV0c2VjcmV0c2VjcmV0' },
  { LOG: 'silent', REALTIME: 'off', CONTROL_DATABASE: 'control-2', TABLE_NAME: 'basalt.2', MAIL_PER_SECOND: '0' },
])('settings %j are accepted', (env) => {
  expect(() => parseSettings(env)).not.toThrow();
});
