/** The most KiB that a bundle may have, by what its name begins with; the longest beginning decides. */
export const budgets: Readonly<Record<string, number>> = {
  data: 765,
  'user-auth': 780,
  storage: 920,
  'mail-send': 845,
  'mail-get': 820,
  'mail-list': 700,
  'mail-webhook': 695,
  'mail-audiences': 820,
  'mail-broadcasts': 825,
  'service-get-openapi': 370,
  'service-get-health': 875,
  default: 690,
  'jobs-deliver-mail': 840,
  'jobs-run-task': 910,
  'jobs-prepare-control': 630,
  'jobs-purge-trash': 655,
  'jobs-remove-developers': 675,
  'jobs-remove-projects': 875,
  'jobs-requeue-mail': 655,
  'jobs-sweep-uploads': 900,
  'jobs-maintain-transfers': 830,
  'jobs-verify-database': 630,
  'dashboard-assistant': 735,
  'dashboard-audit': 720,
  'dashboard-auth': 760,
  'dashboard-collections': 750,
  'dashboard-database': 835,
  'dashboard-documents': 760,
  'dashboard-mail': 845,
  'dashboard-members': 760,
  'dashboard-projects': 730,
  'dashboard-service': 875,
  'dashboard-storage': 945,
  'dashboard-tokens': 715,
  'dashboard-transfers': 930,
  'dashboard-trash': 760,
  'dashboard-usage': 720,
  'dashboard-users': 745,
};

/** Which of the budgets a function has. */
export const groupOf = (name: string): string => {
  const starts = Object.keys(budgets).filter((start) => name === start || name.startsWith(`${start}-`));
  if (starts.length === 0) throw new Error(`${name} has no budget`);
  return starts.reduce((longest, start) => (start.length > longest.length ? start : longest));
};

/** The most bytes that a group may have. */
export const bytesOf = (group: string): number => (budgets[group] ?? 0) * 1024;
