import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { clock, dayAt } from '../../../shared/core/clock.ts';
import { countServiceMail, serviceMailsKey, serviceMailsPerDay } from '../../../shared/members/invitations.ts';
import { counterIn, newCall, reserve } from '../../../shared/persistence/counters.ts';
import { mailAbout } from '../../support/clients/inbox.ts';
import { invite } from '../../support/fixtures/members.ts';
import { newProject } from '../../support/fixtures/project.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('201; the email of an invitation shows the project’s name without links', async () => {
  const project = await newProject();
  const name = 'Refund due, see https://evil.example';
  await project.developer.dashboard('PATCH', `/api/projects/${project.id}`, { name });
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  expect((await invite(project, email, 'viewer')).status).toBe(201);
  const mail = await mailAbout(email, /invited/);
  expect(mail.subject).toBe('You are invited to the project Refund due see');
  expect(mail.text).not.toContain('evil.example');
});

test('429 for all except 10 of 50 concurrent requests when the day has room for 10; the next day starts over', async () => {
  const day = Date.UTC(2100, 0, 1 + Math.floor(Math.random() * 100_000), 12);
  vi.spyOn(clock, 'now').mockReturnValue(day);
  const today = dayAt(day);
  const sent = { name: 'sent', weight: serviceMailsPerDay - 10, limit: serviceMailsPerDay };
  await reserve({ call: newCall(), tallies: [counterIn(today, serviceMailsKey(today.name), sent)] });
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, countServiceMail));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  await expect(countServiceMail()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 12 * 3600 });
  vi.spyOn(clock, 'now').mockReturnValue(day + 24 * 3600_000);
  await countServiceMail();
});
