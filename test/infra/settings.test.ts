import { App } from 'aws-cdk-lib/core';
import { expect, test } from 'vitest';
import { chosenSettings, settingsOf } from '../../infra/settings/settings.ts';
import { everything } from './synthesis.ts';

const read = (context: Record<string, unknown>) => settingsOf(chosenSettings(new App({ context }).node));

test('deployment has the defaults of the contract when no setting is given', () => {
  const chosen = Object.entries(read({})).filter(([, value]) => value !== undefined);
  expect(Object.fromEntries(chosen)).toEqual({
    deployment: 'Basalt',
    rateLimit: '100',
    authRateLimit: '60',
    credentialRateLimit: '20',
    rateBlock: '0',
    realtime: 'on',
    publicRequestsPerSecond: 5000,
    dashboardRequestsPerSecond: 500,
    accountConcurrency: 1000,
    mongoConnections: 0,
    tableWritesPerSecond: 0,
    egress: 'none',
    cloudFront: 'on',
    developerSignup: 'open',
    dashboardOrigins: [],
    mailPerSecond: '2',
    mailRecipientsPerDay: '5000',
    logDays: 30,
    platformLogs: 'problems',
  });
});

test.each([
  [{ rateLimit: 250 }, { rateLimit: '250' }],
  [{ rateLimit: '0' }, { rateLimit: '0', authRateLimit: '0', credentialRateLimit: '0' }],
  [{ rateLimit: 10_000 }, { rateLimit: '10000', authRateLimit: '6000', credentialRateLimit: '2000' }],
  [
    { rateLimit: 10_000, credentialRateLimit: 20 },
    { authRateLimit: '6000', credentialRateLimit: '20' },
  ],
  [{ rateLimit: 3 }, { authRateLimit: '2', credentialRateLimit: '1' }],
  [{ deployment: 'Staging' }, { deployment: 'Staging' }],
  [
    { dashboardOrigins: 'https://a.example, http://localhost:3000,' },
    { dashboardOrigins: ['https://a.example', 'http://localhost:3000'] },
  ],
  [{ publicUrl: 'https://api.example.com' }, { publicUrl: 'https://api.example.com' }],
  [
    { aiBaseUrl: 'https://api.openai.com/v1', aiModel: 'gpt-4o-mini' },
    { aiBaseUrl: 'https://api.openai.com/v1', aiModel: 'gpt-4o-mini' },
  ],
  [{ egress: 'nat' }, { egress: 'nat' }],
  [{ mongoConnections: '3000' }, { mongoConnections: 3000 }],
  [{ tableWritesPerSecond: '20000' }, { tableWritesPerSecond: 20_000 }],
  [{ mailPerSecond: 10 }, { mailPerSecond: '10' }],
  [{ logDays: 7 }, { logDays: 7 }],
  [{ alarmEmail: 'ops@example.com' }, { alarmEmail: 'ops@example.com' }],
  [{ alarmEmail: 'ops@example.com', monthlyBudget: '200' }, { monthlyBudget: 200 }],
  [{ deployments: { Basalt: { rateLimit: 7 } } }, { rateLimit: '7' }],
  [{ deployments: { Basalt: { rateLimit: 7 } }, rateLimit: '8' }, { rateLimit: '8' }],
  [{ deployments: { Staging: { rateLimit: 7 } } }, { rateLimit: '100' }],
  [{ deployment: 'Staging', deployments: { Staging: { rateLimit: 7 } } }, { rateLimit: '7' }],
  [{ deploymentsFile: { Basalt: { rateLimit: 7 } } }, { rateLimit: '7' }],
  [{ deploymentsFile: { Basalt: { rateLimit: 7 } }, rateLimit: '8' }, { rateLimit: '8' }],
  [
    { deploymentsFile: { Basalt: { rateLimit: 7 } }, deployments: { Basalt: { rateLimit: 6, logDays: 7 } } },
    { rateLimit: '7', logDays: 7 },
  ],
  [{ emailFrom: 'no-reply@example.com' }, { emailFrom: 'no-reply@example.com' }],
  [{ emailFrom: 'My App <no-reply@example.com>' }, { emailFrom: 'My App <no-reply@example.com>' }],
])('settings %j are accepted', (context, expected) => {
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
  [{ aiBaseUrl: 'http://api.example.com/v1' }, 'aiBaseUrl must be an address such as'],
  [{ aiModel: 'a model' }, 'aiModel must be the name'],
  [{ developerSignup: 'no' }, 'developerSignup must be open or closed'],
  [{ egress: 'vpn' }, 'egress must be none or nat'],
  [{ accountConcurrency: 0 }, 'accountConcurrency must be from 1 to'],
  [{ mailPerSecond: '1.5' }, 'mailPerSecond must be a whole number'],
  [{ logDays: 8 }, 'logDays must be one of 1, 3, 5'],
  [{ alarmEmail: 'ops' }, 'alarmEmail must be an address'],
  [{ publicDomain: 'https://api.example.com' }, 'publicDomain must be a domain'],
  [{ hostedZoneId: 'Z01' }, 'hostedZoneId and hostedZoneName must be given together'],
  [{ publicDomain: 'api.example.com' }, 'apiCertificateArn and publicDomain or dashboardDomain'],
  [{ apiCertificateArn: everything.apiCertificateArn }, 'apiCertificateArn and publicDomain or dashboardDomain'],
  [{ filesDomain: 'files.example.com' }, 'filesDomain and filesCertificateArn'],
  [
    { ...everything, publicDomain: 'api.example.org' },
    'publicDomain must be a subdomain of hostedZoneName, example.com',
  ],
  [
    { ...everything, publicDomain: 'notexample.com' },
    'publicDomain must be a subdomain of hostedZoneName, example.com',
  ],
  [{ deployments: { Basalt: { rateLimt: 7 } } }, 'Unknown deployment setting rateLimt in cdk.json'],
  [{ deployments: { Basalt: { deployment: 'Other' } } }, 'Unknown deployment setting deployment in cdk.json'],
  [{ deploymentsFile: { Basalt: { rateLimt: 7 } } }, 'Unknown deployment setting rateLimt in deployments.json'],
  [{ emailFrom: 'example.com' }, 'emailFrom must be like'],
  [{ monthlyBudget: 200 }, 'monthlyBudget needs alarmEmail'],
  [{ monthlyBudget: '0', alarmEmail: 'ops@example.com' }, 'monthlyBudget must be at least 1'],
  [{ emailFrom: 'My App <no-reply@example.com' }, 'emailFrom must be like'],
])('settings %j are rejected with the name', (context, message) => {
  expect(() => read(context)).toThrow(message);
});
