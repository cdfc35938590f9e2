/** What we are called: by mails to developers, passkeys and authenticator apps, and towards identity providers. */
export const serviceName = 'Basalt';
