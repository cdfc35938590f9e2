import { App } from 'aws-cdk-lib/core';
import { expect, test } from 'vitest';
import { deploymentSettings } from '../../infra/settings.ts';

const read = (context: Record<string, unknown>) => deploymentSettings(new App({ context }).node);

test('a deployment without settings has those of the contract', () => {
  expect(read({})).toEqual({
    deployment: 'Basalt',
    rateLimit: '100',
    authRateLimit: '60',
    credentialRateLimit: '20',
    dashboardOrigins: [],
  });
});

test.each([
  [{ rateLimit: 250 }, { rateLimit: '250' }],
  [{ rateLimit: '0' }, { rateLimit: '0' }],
  [{ deployment: 'Staging' }, { deployment: 'Staging' }],
  [
    { dashboardOrigins: 'https://a.example, http://localhost:3000,' },
    { dashboardOrigins: ['https://a.example', 'http://localhost:3000'] },
  ],
  [{ publicUrl: 'https://api.example.com' }, { publicUrl: 'https://api.example.com' }],
  [{ emailFrom: 'no-reply@example.com' }, { emailFrom: 'no-reply@example.com' }],
  [{ emailFrom: 'My App <no-reply@example.com>' }, { emailFrom: 'My App <no-reply@example.com>' }],
])('%j is taken', (context, expected) => {
  expect(read(context)).toMatchObject(expected);
});

test.each([
  [{ rateLimit: '-1' }, 'rateLimit must be a whole number'],
  [{ rateLimit: 'many' }, 'rateLimit must be a whole number'],
  [{ credentialRateLimit: '1.5' }, 'credentialRateLimit must be a whole number'],
  [{ deployment: 'my basalt' }, 'deployment must be a name'],
  [{ dashboardOrigins: '*' }, 'dashboardOrigins.0 must be origins such as'],
  [{ dashboardOrigins: 'https://*' }, 'dashboardOrigins.0 must be origins such as'],
  [{ dashboardOrigins: 'https://a.example,https://b.example/' }, 'dashboardOrigins.1 must be origins such as'],
  [{ publicUrl: 'http://api.example.com' }, 'publicUrl must be an address such as'],
  [{ emailFrom: 'example.com' }, 'emailFrom must be like'],
  [{ emailFrom: 'My App <no-reply@example.com' }, 'emailFrom must be like'],
])('%j is refused by name', (context, message) => {
  expect(() => read(context)).toThrow(message);
});
