import { expect, test } from 'vitest';
import { countAccountMail } from '../../../shared/accounts/account-mail.ts';
import { answerForAws } from '../../support/faults/aws-answers.ts';
import { newOwnerKey } from '../../support/fixtures/owner.ts';

process.env.ACCOUNT_MAILS_PER_DAY = '0';

test('ACCOUNT_MAILS_PER_DAY=0 counts nothing and sends every email', async () => {
  const asked = answerForAws(() => ({}));
  expect(await countAccountMail({ id: 'p', plan: 'free', ownerKey: newOwnerKey() }, { toNobody: false })).toBe(true);
  expect(asked).toEqual([]);
});
