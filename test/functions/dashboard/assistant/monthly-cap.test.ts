import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../../shared/core/clock.ts';
import { refund } from '../../../../shared/persistence/counters.ts';
import { plans } from '../../../../shared/projects/plans.ts';
import { countProposal } from '../../../../shared/usage/assistant.ts';
import { inParallel } from '../../../support/clients/client.ts';
import { loseFirstAnswers } from '../../../support/faults/lost-answers.ts';
import { newOwnerKey } from '../../../support/fixtures/owner.ts';

const realNow = clock.now;
const limit = plans.free.proposals;
const exceeded = { code: 'ASSISTANT_QUOTA_EXCEEDED' };

const newProject = (ownerKey = newOwnerKey()) => ({
  id: new ObjectId().toHexString(),
  plan: 'free' as const,
  ownerKey,
});

beforeAll(() => {
  clock.now = () => Date.UTC(2030, 5, 15, 12);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => {
  clock.now = realNow;
});

describe('a lost response of the table, which the client retries', () => {
  test('counts a proposal once, and returns 429 beyond the limit of the month', async () => {
    const project = newProject();
    loseFirstAnswers();
    for (let asked = 0; asked < limit; asked++) await countProposal(project);
    await expect(countProposal(project)).rejects.toMatchObject(exceeded);
  });

  test('refunds one proposal, not two', async () => {
    const project = newProject();
    const counted = [];
    for (let asked = 0; asked < limit; asked++) counted.push(await countProposal(project));
    const [last] = counted;
    if (!last) throw new Error('The plan allows none');
    loseFirstAnswers();
    await refund(last);
    await countProposal(project);
    await expect(countProposal(project)).rejects.toMatchObject(exceeded);
  });
});

describe('an owner who deletes projects and creates new ones', () => {
  test('429 ASSISTANT_QUOTA_EXCEEDED after as many proposals as all projects of the plan have, with 50 concurrent ones', async () => {
    const owner = newOwnerKey();
    const inAll = limit * plans.free.projects;
    for (let made = 0; made < plans.free.projects - 1; made++) {
      const project = newProject(owner);
      await inParallel(limit, () => countProposal(project));
    }
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => countProposal(newProject(owner))));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(limit);
    await expect(countProposal(newProject(owner))).rejects.toMatchObject({
      ...exceeded,
      message: expect.stringContaining(`${inAll} proposals a month in all projects, deleted ones included`) as string,
    });
    await countProposal(newProject());
  });
});
