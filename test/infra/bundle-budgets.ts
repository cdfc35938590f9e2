/** The most KiB that a bundle may have, by what its name begins with; the longest beginning decides. */
export const budgets: Readonly<Record<string, number>> = {
  data: 554,
  realtime: 490,
  'user-auth': 535,
  'user-auth-finish-sign-in': 570,
  'user-auth-register-passkey': 680,
  'user-auth-sign-in-with-passkey': 660,
  storage: 840,
  'storage-confirm-upload': 920,
  'mail-send': 615,
  'mail-get': 595,
  'mail-list': 475,
  'mail-webhook': 470,
  'mail-audiences': 595,
  'mail-broadcasts': 600,
  'service-get-openapi': 700,
  'service-get-types': 480,
  'service-get-health': 750,
  default: 465,
  'jobs-authorize-channel': 37,
  'jobs-deliver-mail': 585,
  'jobs-deliver-webhooks': 495,
  'jobs-requeue-webhooks': 440,
  'jobs-run-task': 845,
  'jobs-make-size': 765,
  'jobs-prepare-control': 445,
  'jobs-purge-trash': 440,
  'jobs-remove-developers': 445,
  'jobs-remove-projects': 775,
  'jobs-requeue-mail': 440,
  'jobs-rotate-link-keys': 330,
  'jobs-sweep-uploads': 805,
  'jobs-maintain-transfers': 750,
  'jobs-verify-database': 445,
  'dashboard-assistant': 505,
  'dashboard-audit': 490,
  'dashboard-auth': 515,
  'dashboard-auth-finish-developer-sign-in': 545,
  'dashboard-auth-register-developer-passkey': 665,
  'dashboard-auth-sign-in-developer-with-passkey': 655,
  'dashboard-collections': 520,
  'dashboard-database': 760,
  'dashboard-documents': 549,
  'dashboard-mail': 615,
  'dashboard-members': 510,
  'dashboard-projects': 505,
  'dashboard-service': 750,
  'dashboard-storage': 855,
  'dashboard-tokens': 490,
  'dashboard-transfers': 805,
  'dashboard-trash': 525,
  'dashboard-usage': 495,
  'dashboard-users': 520,
  'dashboard-webhooks': 510,
};

/** Which of the budgets a function has. */
export const groupOf = (name: string): string => {
  const starts = Object.keys(budgets).filter((start) => name === start || name.startsWith(`${start}-`));
  if (starts.length === 0) throw new Error(`${name} has no budget`);
  return starts.reduce((longest, start) => (start.length > longest.length ? start : longest));
};

/** The most bytes that a group may have. */
export const bytesOf = (group: string): number => (budgets[group] ?? 0) * 1024;
