import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { countProposal, uncountProposal } from '../../../../shared/assistant/monthly-cap.ts';
import { clock } from '../../../../shared/clock.ts';
import { plans } from '../../../../shared/projects/plans.ts';
import { loseFirstAnswers } from '../../../support/lost-answers.ts';

const realNow = clock.now;
const limit = plans.free.proposals;
const exceeded = { code: 'ASSISTANT_QUOTA_EXCEEDED' };

const newProject = () => ({ id: new ObjectId().toHexString(), plan: 'free' as const });

beforeAll(() => {
  clock.now = () => Date.UTC(2030, 5, 15, 12);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => {
  clock.now = realNow;
});

describe('an answer of the table that got lost, so that the client asks again', () => {
  test('counts a proposal once, up to the last of the month, and 429 after it', async () => {
    const project = newProject();
    loseFirstAnswers();
    for (let asked = 0; asked < limit; asked++) await countProposal(project);
    await expect(countProposal(project)).rejects.toMatchObject(exceeded);
  });

  test('takes one proposal back, and not two', async () => {
    const project = newProject();
    const counted = [];
    for (let asked = 0; asked < limit; asked++) counted.push(await countProposal(project));
    const [last] = counted;
    if (!last) throw new Error('The plan allows none');
    loseFirstAnswers();
    await uncountProposal(last);
    await countProposal(project);
    await expect(countProposal(project)).rejects.toMatchObject(exceeded);
  });
});
