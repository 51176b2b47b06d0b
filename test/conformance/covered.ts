export const covered: readonly string[] = [];
