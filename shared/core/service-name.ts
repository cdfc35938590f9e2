/** Who mails to developers say they are from, and who they make a passkey for. */
export const serviceName = 'Basalt';
