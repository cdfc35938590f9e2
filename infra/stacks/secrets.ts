/** Secrets that the operator provides, by their names in grants. */
export const filledSecrets = {
  mongodbSecret: {
    id: 'MongodbUri',
    output: 'MongodbSecretArn',
    variable: 'MONGODB_URI',
    required: true,
    shape: /^mongodb(\+srv)?:\/\/\S+$/,
    description: 'URI of the MongoDB cluster; put in by the first deployment or by hand.',
    reason: 'The URI is made by the operator of the MongoDB cluster, who changes it there and here together.',
  },
  mailProviderSecret: {
    id: 'MailProviderKey',
    output: 'MailProviderSecretArn',
    variable: 'MAIL_PROVIDER_KEY',
    required: false,
    shape: /^re_\w+$/,
    description: 'API key of the mail provider (Resend); put in by a deployment or by hand.',
    reason: 'The key is made by the operator at the mail provider, who changes it there and here together.',
  },
  languageModelSecret: {
    id: 'LanguageModelKey',
    output: 'LanguageModelSecretArn',
    variable: 'AI_API_KEY',
    required: false,
    shape: /^\S+$/,
    description: 'API key of the language model of the schema assistant; only used if aiBaseUrl is set.',
    reason: 'The key is made by the operator where the language model runs, who changes it there and here together.',
  },
  mailWebhookSecret: {
    id: 'MailWebhookSecret',
    output: 'MailWebhookSecretArn',
    variable: 'MAIL_WEBHOOK_SECRET',
    required: false,
    shape: /^whsec_[^\s,]+(\s*,\s*whsec_[^\s,]+)*$/,
    description:
      'Signing secret (whsec_…) of the webhook at the mail provider; several, separated by commas, while it changes.',
    reason: 'The secret is made by the mail provider; the operator changes it there and adds it here.',
  },
  dashboardGithubSecret: {
    id: 'DashboardGithubSecret',
    output: 'DashboardGithubSecretArn',
    variable: 'DASHBOARD_GITHUB_SECRET',
    required: false,
    shape: /^\S+$/,
    description: "Client secret of the dashboard's app at GitHub; only used if dashboardGithubClientId is set.",
    reason: 'The secret is made by the operator at GitHub, who changes it there and here together.',
  },
} as const;

export type FilledSecret = keyof typeof filledSecrets;
