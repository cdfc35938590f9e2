import { expect, test } from 'vitest';
import { StartProblem } from '../../infra/local/problem.ts';
import { parseSettings } from '../../infra/local/settings.ts';

test.each([
  [{ PORT: 'http' }, 'PORT must be a whole number'],
  [{ PORT: '70000' }, 'PORT must be a whole number up to 65533'],
  [{ RATE_LIMIT: '-1' }, 'RATE_LIMIT must be a whole number'],
  [{ AUTH_RATE_LIMIT: 'many' }, 'AUTH_RATE_LIMIT must be a whole number'],
  [{ PASSWORD_COST: '99' }, 'PASSWORD_COST must be a whole number from 4 to 15'],
  [{ LOG: 'loud' }, 'LOG must be info, debug or silent'],
  [{ REALTIME: 'maybe' }, 'REALTIME must be on or off'],
  [{ AI_BASE_URL: 'my model' }, 'AI_BASE_URL must be an address'],
  [{ AI_TIMEOUT_SECONDS: '60' }, 'AI_TIMEOUT_SECONDS must be a whole number from 1 to 25'],
])('%j is refused, and named', (env, message) => {
  expect(() => parseSettings(env)).toThrow(StartProblem);
  expect(() => parseSettings(env)).toThrow(message);
});
