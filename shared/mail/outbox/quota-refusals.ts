import { clock } from '../../core/clock.ts';
import { mailSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { log } from '../../core/log.ts';
import type { Project } from '../../projects/project.ts';
import { dayAt, monthAt, secondsLeft } from '../../table/windows.ts';
import { counted, limitOf, ownerLimits, rowsPerDay } from './mail-tallies.ts';

type Refused = Pick<Project, 'plan'>;

/** The longest that a caller is told to wait: a plan can change, and slots come back. */
const maxRetryAfterSeconds = 24 * 3600;

const untilMonthEnds = (): number => Math.min(maxRetryAfterSeconds, secondsLeft(monthAt(clock.now()), clock.now()));

const untilDayEnds = (): number => secondsLeft(dayAt(clock.now()), clock.now());

const exceeded = (message: string, retryAfter: number): AppError =>
  new AppError('MAIL_QUOTA_EXCEEDED', message, { retryAfter });

/** 429 `MAIL_QUOTA_EXCEEDED`, until the month ends or for a day, whichever is sooner. */
export const quotaExceeded = (limit: number): AppError =>
  exceeded(
    `The monthly mail quota of this project is used up: its plan allows ${limit} mails a month. Wait for the next month, or change the plan.`,
    untilMonthEnds(),
  );

/** The day whose end this process has told the operator of; nobody can have it told more often by asking again. */
let toldOf = '';

const tellOperator = (limit: number): void => {
  const { name: day } = dayAt(clock.now());
  if (toldOf === day) return;
  toldOf = day;
  log.warn({
    message: 'The shared mail key has as many recipients today as MAIL_RECIPIENTS_PER_DAY allows',
    day,
    limit,
  });
};

const ownKey = 'or give the project a mail provider key of its own';

/** 429 `MAIL_QUOTA_EXCEEDED`, saying which of the numbers that count mails has no room, and until when. */
export const refusalOf = (project: Refused, full: string | undefined): AppError => {
  const { mails, recipients } = ownerLimits(project.plan);
  switch (full) {
    case counted.mails:
      return exceeded(
        `The owner of this project has used up the mails of the month with the mail key that all projects share: the plan allows ${mails} in all projects, deleted ones included. Wait for the next month, ${ownKey}.`,
        untilMonthEnds(),
      );
    case counted.recipients:
      return exceeded(
        `The owner of this project has used up the recipients of the month with the mail key that all projects share: the plan allows ${recipients} in all projects, deleted ones included, and each address of each mail counts. Wait for the next month, ${ownKey}.`,
        untilMonthEnds(),
      );
    case counted.ofService: {
      const { MAIL_RECIPIENTS_PER_DAY: limit } = mailSettings();
      tellOperator(limit);
      return exceeded(
        `This service has sent as many mails as it may today with the mail key that all projects share. Try again tomorrow (UTC), ${ownKey}.`,
        untilDayEnds(),
      );
    }
    case counted.slots:
    case undefined:
      return quotaExceeded(limitOf(project));
    default:
      return exceeded(
        `The mail log of this project takes ${rowsPerDay(project)} mails a day, those that failed or whose addresses are suppressed included. Try again tomorrow (UTC).`,
        untilDayEnds(),
      );
  }
};
