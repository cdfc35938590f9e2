/** The most KiB that a bundle may have, by what its name begins with; the longest beginning decides. */
export const budgets: Readonly<Record<string, number>> = {
  data: 1010,
  'user-auth': 1020,
  storage: 1150,
  'mail-send': 1075,
  'mail-get': 1065,
  'mail-list': 945,
  'mail-webhook': 945,
  'mail-audiences': 1065,
  'mail-broadcasts': 1065,
  'service-get-openapi': 520,
  'service-get-health': 1095,
  default: 935,
  'jobs-deliver-mail': 1080,
  'jobs-run-task': 1135,
  'jobs-prepare-control': 880,
  'jobs-purge-trash': 905,
  'jobs-remove-developers': 925,
  'jobs-remove-projects': 1100,
  'jobs-requeue-mail': 905,
  'jobs-sweep-uploads': 1130,
  'jobs-maintain-transfers': 1055,
  'jobs-verify-database': 895,
  'dashboard-assistant': 975,
  'dashboard-audit': 965,
  'dashboard-auth': 1005,
  'dashboard-collections': 1000,
  'dashboard-database': 1070,
  'dashboard-documents': 1010,
  'dashboard-mail': 1090,
  'dashboard-members': 1000,
  'dashboard-projects': 975,
  'dashboard-service': 1095,
  'dashboard-storage': 1175,
  'dashboard-tokens': 965,
  'dashboard-transfers': 1145,
  'dashboard-trash': 1020,
  'dashboard-usage': 970,
  'dashboard-users': 990,
};

/** Which of the budgets a function has. */
export const groupOf = (name: string): string => {
  const starts = Object.keys(budgets).filter((start) => name === start || name.startsWith(`${start}-`));
  if (starts.length === 0) throw new Error(`${name} has no budget`);
  return starts.reduce((longest, start) => (start.length > longest.length ? start : longest));
};

/** The most bytes that a group may have. */
export const bytesOf = (group: string): number => (budgets[group] ?? 0) * 1024;
