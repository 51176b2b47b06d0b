/** Version of the package `sheaf`. */
export const sheafVersion = "0.1.0";
